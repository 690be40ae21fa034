//! What users can do about a network that cannot be used.

pub(super) const CHOOSE_IMAGES: &str = "choose the part of the network that encodes images, exported by itself";
pub(super) const CHOOSE_TEXT: &str = "choose the part of the network that encodes text, exported by itself";
pub(super) const CHOOSE_OTHER: &str = "remove it with `tessera network remove`, and choose another one";
pub(super) const CHOOSE_SMALLER: &str = "choose a smaller network";
pub(super) const EXPORT_BATCH: &str = "export it with a batch of 1, or with an open one";
pub(super) const EXPORT_FLOATS: &str = "export it with 32-bit floats as input";
pub(super) const EXPORT_WHOLE: &str = "export it again as one ONNX file with its weights inside, of opset 21 or below";
pub(super) const ADD_AGAIN: &str = "add the network again with `tessera network add`";
pub(super) const SAY_OUTPUT: &str = "name one of those with --output";
pub(super) const SAY_PIXELS: &str = "leave the file out, and choose with --pixels and --side";
pub(super) const SAY_SIDE: &str = "say the width and height with --side, such as --side 224";
pub(super) const TAKE_PAIR: &str = "take the two encoders of one network, or add the image encoder alone";
pub(super) const TAKE_TOKENIZER: &str = "take the tokenizer.json that belongs to the text encoder";
pub(super) const TAKE_FILES: &str = "give one image encoder, or one with its text encoder and tokenizer.json";

const ALL: [&str; 14] = [
    CHOOSE_IMAGES,
    CHOOSE_TEXT,
    CHOOSE_OTHER,
    CHOOSE_SMALLER,
    EXPORT_BATCH,
    EXPORT_FLOATS,
    EXPORT_WHOLE,
    ADD_AGAIN,
    SAY_OUTPUT,
    SAY_PIXELS,
    SAY_SIDE,
    TAKE_PAIR,
    TAKE_TOKENIZER,
    TAKE_FILES,
];

/// The advice that another process gave in these words.
pub(super) fn known(words: &str) -> &'static str {
    ALL.into_iter().find(|advice| *advice == words).unwrap_or(CHOOSE_OTHER)
}
