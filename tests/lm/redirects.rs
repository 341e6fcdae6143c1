//! Redirects are not followed: the key and the prompt would go to an address that is not configured.

use dsrs_metrics::lm::{LanguageModel, LmErrorKind};

use crate::server::{Answer, Server};
use crate::{ask, plain};

#[tokio::test]
async fn no_redirect_is_followed_and_the_error_names_the_target() {
    // One model of each wire format, and one of a provider with an address of its own.
    let models = ["openai:m", "anthropic:m", "gemini:m", "cohere:m"];
    let other = Server::start(|_| Answer::chat("accepted")).await;
    for status in [301, 302, 303, 307, 308] {
        for model in models {
            let target = other.url("/elsewhere?key=secret");
            let server = Server::start(move |_| {
                Answer::error(status, "moved").with_header("location", target.clone())
            })
            .await;
            let lm = plain(model, &server.url("/v1")).build().unwrap();
            let error = lm.complete(&ask("?")).await.unwrap_err();
            let location = other.url("/elsewhere");
            assert_eq!(
                error.to_string(),
                format!(
                    "{model}: status {status} redirects to {location}, and redirects are not followed; set the base URL to the address of the API"
                )
            );
            assert!(!error.is_transient(), "a redirect is not retried");
            assert_eq!(server.received().len(), 1, "{model}");
        }
    }
    assert_eq!(
        other.received().len(),
        0,
        "no key and no prompt has left for the other address"
    );
}

#[tokio::test]
async fn the_limit_of_a_reply_is_configurable() {
    let server = Server::start(|_| Answer::chat(&"x".repeat(5000))).await;
    let limited = |variable: &'static str| {
        let lm = plain("openai:m", &server.url("/v1"));
        lm.variables(move |name| (name == "DSRS_MAX_REPLY_BYTES").then(|| variable.to_owned()))
    };
    let too_large = LmErrorKind::ReplyTooLarge {
        limit: 4000,
        unit: "bytes",
    };
    for lm in [limited("4000"), limited("100000").max_reply_bytes(4000)] {
        let error = lm.build().unwrap().complete(&ask("?")).await.unwrap_err();
        assert_eq!(error.kind(), &too_large);
        assert_eq!(
            (error.is_transient(), error.cost_msats()),
            (false, None),
            "it may be charged"
        );
    }
    let reply = limited("6000")
        .build()
        .unwrap()
        .complete(&ask("?"))
        .await
        .unwrap();
    assert_eq!(reply.text.len(), 5000);
    for invalid in ["0", "-1", "8MiB"] {
        let error = limited(invalid).build().unwrap_err().to_string();
        let expected = format!(
            "invalid DSRS_MAX_REPLY_BYTES `{invalid}`: expected a whole number of bytes, at least 1"
        );
        assert_eq!(error, expected);
    }
}
