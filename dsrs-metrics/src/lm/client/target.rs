//! The provider of a model, and the environment variables that configure it.

use std::fmt;
use std::sync::Arc;

use genai::adapter::AdapterKind;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::super::model_id::{ALIASES, canonical_provider, split_id};
use super::super::{LmError, LmErrorKind};
use crate::text::suggest::nearest;

/// The hash of an address, or of an address and its credentials. It contains no key.
pub(in super::super) type EndpointHash = [u8; 32];

/// The source of settings: the environment variables, or a function that replaces them.
#[derive(Clone)]
pub(in super::super) struct Variables(Arc<Get>);

type Get = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Variables {
    pub(in super::super) fn new(
        get: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(get))
    }

    pub(in super::super) fn environment() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// The value of a variable; an empty value counts as unset.
    pub(in super::super) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn first(&self, names: &[String]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }
}

/// A model with the address and the credentials of its provider.
#[derive(Clone)]
pub(in super::super) struct Target {
    pub(super) id: String,
    pub(super) kind: AdapterKind,
    pub(super) model: String,
    pub(super) key: Option<SecretString>,
    /// The environment variable of the key.
    pub(super) key_variable: String,
    /// With a trailing slash, as `genai` requires.
    pub(super) base_url: Option<String>,
    /// The base URL without its secrets.
    pub(super) redacted_base_url: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    /// Whether the provider's API accepts a JSON schema.
    pub(super) supports_schema: bool,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("id", &self.id)
            .field("base_url", &self.redacted_base_url)
            .field("key", &self.key.as_ref().map(|_| "***"))
            .finish_non_exhaustive()
    }
}

/// Key variables in addition to those that `genai` knows.
const KEY_ALIASES: [(&str, &str); 3] = [
    ("gemini", "GOOGLE_API_KEY"),
    ("open_router", "OPENROUTER_API_KEY"),
    ("together", "TOGETHER_AI_API_KEY"),
];

/// Providers whose API has a JSON mode, but accepts no schema.
const JSON_MODE_ONLY: [&str; 5] = ["deepseek", "kimi", "moonshot", "zai", "bigmodel"];

impl Target {
    /// Parses `provider:model`, and reads the provider's variables.
    pub(in super::super) fn resolve(
        id: &str,
        key: Option<SecretString>,
        base_url: Option<String>,
        variables: &Variables,
    ) -> Result<Self, LmError> {
        let Some((provider, model)) = split_id(id) else {
            return Err(LmErrorKind::InvalidModelId { id: id.to_owned() }.into());
        };
        let name = &*canonical_provider(provider);
        let Some(kind) = AdapterKind::from_lower_str(name) else {
            return Err(unknown_provider(id, name, model));
        };
        let base_url = match base_url {
            Some(url) => Some(("base URL".to_owned(), url)),
            None => base_url_from(variables, name),
        };
        let base_url =
            base_url.map(|(setting, url)| normalize_url(name, &setting, &url)).transpose()?;
        let key_variables = key_variables(name, kind);
        let key = key.or_else(|| variables.first(&key_variables).map(SecretString::from));
        let mut target = Self {
            // With the canonical name of the provider, which prices and cache keys use.
            id: format!("{name}:{model}"),
            kind,
            model: model.to_owned(),
            key,
            key_variable: key_variables.first().cloned().unwrap_or_default(),
            redacted_base_url: base_url.as_deref().map(redact_url),
            base_url,
            headers: openai_headers(name, variables),
            supports_schema: !JSON_MODE_ONLY.contains(&name),
        };
        if name == "ollama" {
            target.use_openai_format();
        }
        // A server at a configured address may require no key; if it does, it returns an error.
        if target.key.is_some() || target.base_url.is_some() {
            return Ok(target);
        }
        let variable = target.key_variable;
        Err(LmError::new(target.id, LmErrorKind::MissingApiKey { variable }))
    }

    /// Uses Ollama's OpenAI-compatible API, which accepts schemas; `genai` does not send them to
    /// its native API.
    fn use_openai_format(&mut self) {
        self.kind = AdapterKind::OpenAI;
        let default = || "http://localhost:11434/v1/".to_owned();
        let url = self.base_url.take().unwrap_or_else(default);
        self.redacted_base_url = (url != default()).then(|| redact_url(&url));
        self.base_url = Some(url);
    }

    /// The hash of the address, or of the provider's name if it has its default address.
    pub(in super::super) fn address_hash(&self) -> EndpointHash {
        Sha256::digest(self.base_url_or_provider()).into()
    }

    /// The hash of the address and of the credentials, which identify an account.
    pub(in super::super) fn account_hash(&self) -> EndpointHash {
        let key = self.key.as_ref().map_or("", ExposeSecret::expose_secret);
        let mut account = Sha256::new_with_prefix(self.base_url_or_provider());
        for part in self.headers.iter().map(|(_, value)| value.as_str()).chain([key]) {
            account.update([0]);
            account.update(part);
        }
        account.finalize().into()
    }

    fn base_url_or_provider(&self) -> &str {
        let provider = || self.id.split(':').next().unwrap_or_default();
        self.base_url.as_deref().unwrap_or_else(|| family(provider()))
    }

    /// The address for error messages.
    pub(super) fn address(&self) -> String {
        match &self.redacted_base_url {
            Some(url) => url.clone(),
            None => self.base_url.clone().unwrap_or_else(|| "its default address".to_owned()),
        }
    }
}

fn unknown_provider(id: &str, provider: &str, model: &str) -> LmError {
    let mut known: Vec<_> = AdapterKind::all().iter().map(AdapterKind::as_lower_str).collect();
    known.sort_unstable();
    let names = known.iter().copied().chain(ALIASES.map(|(alias, _)| alias));
    let suggestion = nearest(provider, names).map(|provider| format!("{provider}:{model}"));
    LmErrorKind::UnknownProvider { id: id.to_owned(), suggestion, known: known.join(", ") }.into()
}

fn key_variables(provider: &str, kind: AdapterKind) -> Vec<String> {
    let known = kind.default_key_env_name().map(str::to_owned);
    let alias =
        KEY_ALIASES.iter().find(|(name, _)| *name == provider).map(|(_, v)| (*v).to_owned());
    let usual = format!("{}_API_KEY", provider.to_uppercase());
    let mut names: Vec<_> = known.into_iter().chain(alias).collect();
    if names.is_empty() {
        names.push(usual);
    }
    names
}

/// The provider whose variables apply: OpenAI's second API, `openai_resp`, has the variables of the
/// first.
fn family(provider: &str) -> &str {
    provider.strip_suffix("_resp").unwrap_or(provider)
}

/// The variable with the provider's base URL, and its value.
fn base_url_from(variables: &Variables, provider: &str) -> Option<(String, String)> {
    let upper = family(provider).to_uppercase();
    let mut names = vec![format!("{upper}_BASE_URL"), format!("{upper}_API_BASE")];
    match provider {
        "ollama" => names.push("OLLAMA_HOST".to_owned()),
        "gemini" => names.push("GOOGLE_GEMINI_BASE_URL".to_owned()),
        _ => {}
    }
    names.into_iter().find_map(|name| variables.get(&name).map(|value| (name, value)))
}

/// The headers of organization and project, from the variables of OpenAI's own client.
fn openai_headers(provider: &str, variables: &Variables) -> Vec<(String, String)> {
    if family(provider) != "openai" {
        return Vec::new();
    }
    let places = [
        ("OpenAI-Organization", ["OPENAI_ORG_ID", "OPENAI_ORGANIZATION"]),
        ("OpenAI-Project", ["OPENAI_PROJECT_ID", "OPENAI_PROJECT"]),
    ];
    let find = |(header, names): (&str, [&str; 2])| {
        let value = names.iter().find_map(|name| variables.get(name))?;
        Some((header.to_owned(), value))
    };
    places.into_iter().filter_map(find).collect()
}

/// The base URL in the form that `genai` requires. The variables differ in what they contain, since
/// each provider's own client adds another part of the path: Anthropic's has no `/v1`, Ollama's
/// often no scheme.
fn normalize_url(provider: &str, setting: &str, url: &str) -> Result<String, LmError> {
    let invalid = |expected: &str| {
        LmError::from(LmErrorKind::InvalidSetting {
            setting: setting.to_owned(),
            found: redact_url(url),
            reason: format!("expected {expected}"),
        })
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
        // It fails only for URLs without a host.
        let _ = parsed.set_port(Some(11434));
    }
    let version = match provider {
        "anthropic" | "ollama" => "/v1",
        "gemini" => "/v1beta",
        _ => "",
    };
    let path = parsed.path().trim_end_matches('/').to_owned();
    let path = if path.is_empty() { version.to_owned() } else { path };
    parsed.set_path(&format!("{path}/"));
    Ok(parsed.to_string())
}

/// A URL without user, password, query and fragment, any of which may be a secret.
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
