//! The trait of the parts of a desk, and the macro that declares them. A part has fields and
//! messages of its own and reacts to events of the library.

use std::io;

use super::context::{Context, Event};

/// A part of a desk.
pub(super) trait Part: Sized {
    /// What its tasks and jobs send to it.
    type Message;
    /// Whether these messages are still delivered once the library that they are about is closed.
    const OUTLIVES_LIBRARY: bool = false;

    /// A part without an open library.
    ///
    /// # Errors
    /// When the system refuses to start a thread.
    fn new(ctx: &Context) -> io::Result<Self>;

    /// Takes in a message.
    fn take_in(&mut self, ctx: &mut Context, message: Self::Message);

    /// Reacts to an event of the library.
    fn hear(&mut self, ctx: &mut Context, event: Event);
}

/// Declares the parts of a desk: the struct that holds them, the enum of their messages, and an
/// accessor of `Desk` for each.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident: $Part:ident,)*) => {
        /// The parts of a desk. Events reach them in the order in which they stand here.
        struct Parts {
            $($name: $Part,)*
        }

        /// A message from another thread.
        enum Message {
            $($Part(<$Part as Part>::Message),)*
            /// For the user.
            NewNotice(NewNotice),
            /// The state of the library now.
            State(State),
            /// All of these, in their order.
            Several(Vec<Message>),
        }

        $(impl From<<$Part as Part>::Message> for Message {
            fn from(message: <$Part as Part>::Message) -> Self {
                Self::$Part(message)
            }
        })*

        impl Message {
            /// What is still delivered of it once the library that it is about is closed.
            fn outliving(self) -> Option<Self> {
                match self {
                    $(Self::$Part(_) => <$Part as Part>::OUTLIVES_LIBRARY.then_some(self),)*
                    Self::NewNotice(told) => Some(Self::NewNotice(told.without_offers())),
                    Self::State(_) => None,
                    Self::Several(messages) => Some(Self::Several(messages.into_iter().filter_map(Self::outliving).collect())),
                }
            }
        }

        impl Parts {
            fn new(ctx: &Context) -> io::Result<Self> {
                Ok(Self { $($name: $Part::new(ctx)?,)* })
            }
        }

        impl Desk {
            /// Hands a message to the part that it is for.
            fn take_in(&mut self, message: Message) {
                match message {
                    $(Message::$Part(message) => self.parts.$name.take_in(&mut self.ctx, message),)*
                    Message::NewNotice(told) => self.ctx.notices.take_in(told),
                    Message::State(state) => self.ctx.take_state(state),
                    Message::Several(messages) => messages.into_iter().for_each(|message| self.take_in(message)),
                }
                self.settle();
            }

            fn hear(&mut self, event: Event) {
                $(self.parts.$name.hear(&mut self.ctx, event);)*
            }

            $($(#[$doc])*
            pub fn $name(&self) -> &$Part {
                &self.parts.$name
            })*
        }
    };
}
pub(super) use parts;
