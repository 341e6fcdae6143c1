//! The provider of a model and the environment variables that configure it.

use std::sync::Arc;

use reqwest::header::{ACCEPT, HeaderName};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::super::{LmError, LmErrorKind};
use super::provider::{self, Format, canonical_provider, split_id};

/// The hash of an address, or of an address and its credentials. It contains no key.
pub(in super::super) type EndpointHash = [u8; 32];

/// Where settings come from: the environment variables, or a function that replaces them.
#[derive(Clone)]
pub(in super::super) struct Variables(Arc<Get>);

type Get = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The environment variables.
impl Default for Variables {
    fn default() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }
}

impl Variables {
    pub(in super::super) fn new(
        get: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(get))
    }

    /// Returns the value of a variable. An empty value counts as unset.
    pub(in super::super) fn get(&self, name: &str) -> Option<String> {
        let value = (self.0)(name)?.trim().to_owned();
        (!value.is_empty()).then_some(value)
    }

    fn first(&self, names: &[String]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }
}

/// A model with its provider's address and credentials.
#[derive(Clone)]
pub(in super::super) struct Target {
    pub(in super::super) id: String,
    /// The canonical name of the provider.
    pub(super) provider: &'static str,
    pub(super) format: Format,
    /// The name of the model as sent in requests.
    pub(super) model: String,
    pub(super) key: Option<SecretString>,
    /// The environment variable that holds the key.
    pub(super) key_variable: String,
    pub(in super::super) base_url: String,
    /// The base URL without secrets, or `None` if it is the provider's default.
    pub(super) redacted_base_url: Option<String>,
    pub(super) headers: Vec<(HeaderName, String)>,
    /// `true` if the API accepts a JSON schema.
    pub(super) supports_schema: bool,
}

/// Providers with a JSON mode but without schemas.
const JSON_MODE_ONLY: [&str; 5] = ["deepseek", "kimi", "moonshot", "zai", "bigmodel"];

impl Target {
    /// Parses `provider:model`, and reads the provider's variables.
    pub(in super::super) fn resolve(
        id: &str,
        key: Option<SecretString>,
        base_url: Option<String>,
        variables: &Variables,
        is_called: bool,
    ) -> Result<Self, LmError> {
        let Some((provider, model)) = split_id(id) else {
            let reason = format!(
                "invalid model `{id}`: expected provider:model, such as openai:gpt-6-luna; for any OpenAI-compatible server set OPENAI_BASE_URL and write openai:MODEL"
            );
            return Err(LmErrorKind::Setting(reason).into());
        };
        let (name, default_url) = provider::find(&canonical_provider(provider))
            .ok_or_else(|| provider::unknown(id, &canonical_provider(provider), model))?;
        let base_url = match base_url {
            Some(url) => Some(("base URL".to_owned(), url)),
            None => base_url_from(variables, name),
        };
        let normalized = |(setting, url): (String, String)| normalize_url(name, &setting, &url);
        let base_url = base_url.map(normalized).transpose()?;
        let key_variables = provider::key_variables(name);
        let key = key.or_else(|| variables.first(&key_variables).map(SecretString::from));
        // Prices and the keys of replies use the canonical name.
        let id = format!("{name}:{model}");
        let key_variable = key_variables.into_iter().next().unwrap_or_default();
        // A server on this machine or at a configured address may need no key; if it does, it returns an error.
        let is_local = default_url.starts_with("http://");
        if is_called && key.is_none() && base_url.is_none() && !is_local {
            return Err(LmError::new(id, LmErrorKind::MissingApiKey(key_variable)));
        }
        let other = base_url.as_deref().filter(|url| *url != default_url);
        Ok(Self {
            id,
            provider: name,
            format: provider::format_of(name, model),
            model: provider::model_name(name, model),
            key,
            key_variable,
            redacted_base_url: other.map(redact_url),
            base_url: base_url.unwrap_or_else(|| default_url.to_owned()),
            headers: headers(name, variables),
            supports_schema: !JSON_MODE_ONLY.contains(&name),
        })
    }

    /// Returns the hash of the address and the credentials, which together identify an account.
    pub(in super::super) fn account_hash(&self) -> EndpointHash {
        let key = self.key.as_ref().map_or("", ExposeSecret::expose_secret);
        let mut account = Sha256::new_with_prefix(&self.base_url);
        let headers = self.headers.iter().map(|(_, value)| value.as_str());
        for part in headers.chain([key]) {
            account.update([0]);
            account.update(part);
        }
        account.finalize().into()
    }

    /// Returns the key, or `none` if there is no key. Servers at a configured address may not need one.
    pub(super) fn key(&self) -> &str {
        let key = self.key.as_ref();
        key.map_or("none", |key| key.expose_secret())
    }

    /// Returns the base URL with these segments appended to its path.
    pub(super) fn url<'s>(
        &self,
        segments: impl IntoIterator<Item = &'s str>,
    ) -> Result<reqwest::Url, LmError> {
        let url = reqwest::Url::parse(&self.base_url);
        let mut url = url.map_err(|error| LmError::setting("base URL", self.address(), error))?;
        // An HTTP URL has a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        Ok(url)
    }

    /// Returns the address for error messages.
    pub(super) fn address(&self) -> &str {
        self.redacted_base_url.as_deref().unwrap_or(&self.base_url)
    }
}

/// Returns the variable that holds the provider's base URL, and the variable's value.
fn base_url_from(variables: &Variables, provider: &str) -> Option<(String, String)> {
    let upper = provider.to_uppercase();
    let mut names = vec![format!("{upper}_BASE_URL"), format!("{upper}_API_BASE")];
    match provider {
        "ollama" => names.push("OLLAMA_HOST".to_owned()),
        "omlx" => names.push("OMLX_ENDPOINT".to_owned()),
        "gemini" => names.push("GOOGLE_GEMINI_BASE_URL".to_owned()),
        _ => {}
    }
    let mut values = names.into_iter();
    values.find_map(|name| variables.get(&name).map(|value| (name, value)))
}

/// Returns the headers that a provider expects besides the key. OpenAI's organization and project come from the
/// variables of its own client.
fn headers(provider: &str, variables: &Variables) -> Vec<(HeaderName, String)> {
    match provider {
        "openai" => {}
        "github_copilot" => return vec![(ACCEPT, "application/vnd.github+json".to_owned())],
        _ => return Vec::new(),
    }
    let places = [
        ("openai-organization", "OPENAI_ORG_ID"),
        ("openai-project", "OPENAI_PROJECT_ID"),
    ];
    let header = |(header, name)| Some((HeaderName::from_static(header), variables.get(name)?));
    places.into_iter().filter_map(header).collect()
}

/// Returns the base URL with a trailing slash. What a variable contains differs by provider, because each provider's
/// own client appends a different path: Anthropic's has no `/v1`, Ollama's often no scheme.
fn normalize_url(provider: &str, setting: &str, url: &str) -> Result<String, LmError> {
    let invalid = |expected: &str| {
        let reason = format_args!("expected {expected}");
        LmError::setting(setting, &redact_url(url), reason)
    };
    let mut text = url.to_owned();
    if provider == "ollama" && !text.contains("://") {
        text = format!("http://{text}");
    }
    let mut parsed = reqwest::Url::parse(&text)
        .map_err(|error| invalid("a URL such as https://example.org/v1").with_source(error))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(invalid("a URL that starts with http:// or https://"));
    }
    if provider == "ollama" && parsed.port().is_none() && parsed.scheme() == "http" {
        // This fails only for URLs without a host.
        let _ = parsed.set_port(Some(11434));
    }
    let version = match provider {
        "anthropic" | "ollama" | "ollama_cloud" => "/v1",
        "gemini" => "/v1beta",
        _ => "",
    };
    let path = match parsed.path().trim_end_matches('/') {
        "" => format!("{version}/"),
        path => format!("{path}/"),
    };
    parsed.set_path(&path);
    Ok(parsed.to_string())
}

/// Returns a URL without user, password, query and fragment, which may be secret.
pub(super) fn redact_url(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(mut url) => {
            // These fail only for URLs that cannot have a user.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.set_fragment(None);
            url.to_string()
        }
        Err(_) => {
            let host = url.rsplit('@').next().unwrap_or_default();
            host.split(['?', '#']).next().unwrap_or_default().to_owned()
        }
    }
}
