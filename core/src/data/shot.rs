//! What is known of how a picture was taken.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The circumstances of a shot, each `None` when not known. Angles are as the source counts them:
/// NORB numbers its elevations 0 to 8 and gives azimuths in tens of degrees, ETH-80 gives both in
/// degrees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Meta {
    /// The number of the object within its class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// How high the camera stood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevation: Option<u32>,
    /// From which side the object is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azimuth: Option<u32>,
    /// The number of the lighting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lighting: Option<u32>,
    /// Which camera of a stereo pair took the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Camera>,
    /// The file that is the other half of the stereo pair; not written down, for it can be found
    /// again. A NORB frame needs none: its partner is `index ^ 1`.
    #[serde(skip)]
    pub partner: Option<PathBuf>,
}

impl Meta {
    /// Whether nothing is known that is written down.
    pub fn is_empty(&self) -> bool {
        *self == Self { partner: self.partner.clone(), ..Self::default() }
    }
}

/// One camera of a stereo pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Camera {
    /// The left one.
    #[default]
    Left,
    /// The right one.
    Right,
}

impl Camera {
    /// The other camera of the pair.
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// `lt` or `rt`, as in NORB's names.
    pub fn short(self) -> &'static str {
        match self {
            Self::Left => "lt",
            Self::Right => "rt",
        }
    }
}

/// The known parts in words; empty when nothing is known.
impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = [("instance", self.instance), ("elevation", self.elevation), ("azimuth", self.azimuth), ("lighting", self.lighting)];
        let mut parts: Vec<String> = numbers.iter().filter_map(|(name, value)| value.map(|value| format!("{name} {value}"))).collect();
        parts.extend(self.camera.map(|camera| format!("{} camera", if camera == Camera::Left { "left" } else { "right" })));
        f.write_str(&parts.join(", "))
    }
}
