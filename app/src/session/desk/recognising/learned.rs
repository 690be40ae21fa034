//! Learned features: the switch, and the job that looks at images with the network.

use tessera_core::library::Library;
use tessera_core::library::import::hold;

use super::{Known, Message};
use crate::job::JobKind;
use crate::session::desk::context::Context;

/// Turns learned features on or off.
pub(in crate::session::desk) fn switch(ctx: &mut Context, on: bool) {
    ctx.library_job(JobKind::ChooseLearnedFeatures, move |session, library| {
        session.set_learned_features(library, on)?;
        Ok(switched(&hold(library)))
    });
}

/// Lets words find images by the pair of encoders of this name, or by none.
pub(in crate::session::desk) fn use_words_network(ctx: &mut Context, name: Option<String>) {
    ctx.library_job(JobKind::ChooseLearnedFeatures, move |session, library| {
        session.set_words_network(library, name.as_deref())?;
        Ok(switched(&hold(library)))
    });
}

/// Looks at images that the network has not looked at, as long as nothing stops it.
pub(super) fn compute(ctx: &mut Context) {
    if !ctx.jobs.is_running(&JobKind::LookWithNetwork) {
        ctx.library_job(JobKind::LookWithNetwork, |session, library| {
            let looked = session.compute_learned_features_aside(library)?;
            Ok(Message::Looked(Box::new(Known::of(&hold(library))), looked))
        });
    }
}

/// What the library keeps of its present recogniser.
fn switched(library: &Library) -> Message {
    Message::Switched(Box::new(Known::of(library)))
}
