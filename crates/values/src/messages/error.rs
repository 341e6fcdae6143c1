//! `Debug` for errors. If `main` returns an error, Rust prints its `Debug` form, so this shows the readable message
//! instead of the variant.

use std::error::Error;

/// Returns the message of an error, followed by the messages of its sources.
///
/// A source is left out if the text already contains its message.
pub fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        source = cause.source();
    }
    text
}

/// Implements `Debug` for error types as their message with its sources.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_display {
    ($($error:ty),*) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::messages::error::with_sources(self))
            }
        }
    )*};
}

/// Defines errors that consist of a message, created by `Error::from("..")`.
#[doc(hidden)]
#[macro_export]
macro_rules! message_errors {
    ($($(#[$doc:meta])* pub struct $error:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, ::thiserror::Error)]
        #[error("{0}")]
        pub struct $error(::std::borrow::Cow<'static, str>);

        $crate::debug_as_display!($error);
        $crate::conversions! {
            &'static str => $error: |message| Self(message.into());
            String => $error: |message| Self(message.into());
        }
    )*};
}

#[cfg(test)]
mod tests {
    use std::io;

    #[derive(thiserror::Error)]
    enum Failure {
        #[error("cannot read `a`: {0}")]
        Shown(#[source] io::Error),
        #[error("cannot read `a`")]
        Hidden(#[source] io::Error),
        #[error("run 1 failed")]
        Nested(#[source] Box<Self>),
    }
    crate::debug_as_display!(Failure);

    #[test]
    fn debug_is_the_message_with_each_source_once() {
        let cause = || io::Error::other("no such file");
        assert_eq!(
            format!("{:?}", Failure::Shown(cause())),
            "cannot read `a`: no such file"
        );
        assert_eq!(
            format!("{:#?}", Failure::Hidden(cause())),
            "cannot read `a`: no such file"
        );
        let nested = Failure::Nested(Box::new(Failure::Hidden(cause())));
        assert_eq!(
            format!("{nested:?}"),
            "run 1 failed: cannot read `a`: no such file"
        );
    }
}
