//! Which provider a model is at, and which variables say how to reach it.

use std::fmt;
use std::sync::Arc;

use genai::adapter::AdapterKind;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::super::LmError;
use super::super::shared::Place;
use crate::text::suggest::nearest;

/// Where settings are looked up: the environment, unless told otherwise.
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

    /// The variable's value; an empty one counts as unset.
    pub(in super::super) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn first(&self, names: &[String]) -> Option<String> {
        names.iter().find_map(|name| self.get(name))
    }
}

/// A model, where it is, and what opens the door.
#[derive(Clone)]
pub(in super::super) struct Target {
    pub(super) id: String,
    pub(super) kind: AdapterKind,
    pub(super) model: String,
    pub(super) key: Option<SecretString>,
    /// The variable that should hold the key.
    pub(super) key_variable: String,
    /// With a slash at its end, as `genai` needs it.
    pub(super) base_url: Option<String>,
    /// The same without what may be secret in it.
    pub(super) shown_base_url: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    /// Whether the provider's own format has a place for a JSON schema.
    pub(super) json_schema: bool,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("id", &self.id)
            .field("base_url", &self.shown_base_url)
            .field("key", &self.key.as_ref().map(|_| "***"))
            .finish_non_exhaustive()
    }
}

/// Another name for a provider, and what `genai` calls it.
const ALIASES: [(&str, &str); 6] = [
    ("google", "gemini"),
    ("openrouter", "open_router"),
    ("grok", "xai"),
    ("together_ai", "together"),
    ("fireworks_ai", "fireworks"),
    ("qwen", "qwen_cloud"),
];

/// Providers with a key variable besides the one that `genai` knows.
const KEY_ALIASES: [(&str, &str); 3] = [
    ("gemini", "GOOGLE_API_KEY"),
    ("open_router", "OPENROUTER_API_KEY"),
    ("together", "TOGETHER_AI_API_KEY"),
];

/// Providers whose interface has JSON mode, but takes no schema.
const JSON_MODE_ONLY: [&str; 5] = ["deepseek", "kimi", "moonshot", "zai", "bigmodel"];

impl Target {
    /// Reads `provider:model`, and the provider's variables.
    pub(in super::super) fn find(
        id: &str,
        key: Option<SecretString>,
        base_url: Option<String>,
        variables: &Variables,
    ) -> Result<Self, LmError> {
        let Some((provider, model)) = split(id) else {
            return Err(LmError::NotAModel { id: id.to_owned() });
        };
        let name = &*by_one_name(provider);
        let Some(kind) = AdapterKind::from_lower_str(name) else {
            return Err(unknown(id, name, model));
        };
        let base_url = match base_url {
            Some(url) => Some(("the base URL".to_owned(), url)),
            None => address(name, variables),
        };
        let base_url =
            base_url.map(|(setting, url)| with_path(name, &setting, &url)).transpose()?;
        let key_variables = key_variables(name, kind);
        let key = key.or_else(|| variables.first(&key_variables).map(SecretString::from));
        let mut target = Self {
            // By one name, so that prices and the cache know it however it was written.
            id: format!("{name}:{model}"),
            kind,
            model: model.to_owned(),
            key,
            key_variable: key_variables.first().cloned().unwrap_or_default(),
            shown_base_url: base_url.as_deref().map(shown),
            base_url,
            headers: headers(name, variables),
            json_schema: !JSON_MODE_ONLY.contains(&name),
        };
        if name == "ollama" {
            target.speak_openai();
        }
        // A server of one's own may want no key; if it does, it says so.
        match target.key.is_some() || target.base_url.is_some() {
            true => Ok(target),
            false => Err(LmError::NoKey { lm: target.id, variable: target.key_variable }),
        }
    }

    /// Ollama's OpenAI-compatible side takes schemas, which `genai` does not send to its native one.
    fn speak_openai(&mut self) {
        self.kind = AdapterKind::OpenAI;
        let default = || "http://localhost:11434/v1/".to_owned();
        let url = self.base_url.take().unwrap_or_else(default);
        self.shown_base_url = (url != default()).then(|| shown(&url));
        self.base_url = Some(url);
    }

    /// Where it is, as a hash: the address, or the provider that has an address of its own.
    pub(in super::super) fn place(&self) -> Place {
        Sha256::digest(self.whereabouts()).into()
    }

    /// Whose calls these are there, as a hash: the address and what identifies an account at it.
    pub(in super::super) fn account(&self) -> Place {
        let key = self.key.as_ref().map_or("", ExposeSecret::expose_secret);
        let mut account = Sha256::new_with_prefix(self.whereabouts());
        for part in self.headers.iter().map(|(_, value)| value.as_str()).chain([key]) {
            account.update([0]);
            account.update(part);
        }
        account.finalize().into()
    }

    fn whereabouts(&self) -> &str {
        let provider = || self.id.split(':').next().unwrap_or_default();
        self.base_url.as_deref().unwrap_or_else(|| family(provider()))
    }

    /// Where the provider is looked for, for messages.
    pub(super) fn address(&self) -> String {
        match &self.shown_base_url {
            Some(url) => url.clone(),
            None => self.base_url.clone().unwrap_or_else(|| "its usual address".to_owned()),
        }
    }
}

/// Provider and model, if there are both.
pub(in super::super) fn split(id: &str) -> Option<(&str, &str)> {
    let (provider, model) = id.split_once(':')?;
    let (provider, model) = (provider.trim(), model.trim());
    (!provider.is_empty() && !model.is_empty()).then_some((provider, model))
}

/// The one name of a provider, however it is written.
pub(in super::super) fn by_one_name(provider: &str) -> String {
    let written = provider.to_lowercase().replace('-', "_");
    let alias = ALIASES.iter().find(|(alias, _)| *alias == written);
    alias.map_or(written, |(_, name)| (*name).to_owned())
}

fn unknown(id: &str, provider: &str, model: &str) -> LmError {
    let mut known: Vec<_> = AdapterKind::all().iter().map(AdapterKind::as_lower_str).collect();
    known.sort_unstable();
    let written = known.iter().copied().chain(ALIASES.map(|(alias, _)| alias));
    let nearest = nearest(provider, written).map(|provider| format!("{provider}:{model}"));
    LmError::UnknownProvider { id: id.to_owned(), nearest, known: known.join(", ") }
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

/// OpenAI's other interface, `openai_resp`, has the variables of the first.
fn family(provider: &str) -> &str {
    provider.strip_suffix("_resp").unwrap_or(provider)
}

/// The variable that holds the provider's address, and what it says.
fn address(provider: &str, variables: &Variables) -> Option<(String, String)> {
    let upper = family(provider).to_uppercase();
    let mut names = vec![format!("{upper}_BASE_URL"), format!("{upper}_API_BASE")];
    match provider {
        "ollama" => names.push("OLLAMA_HOST".to_owned()),
        "gemini" => names.push("GOOGLE_GEMINI_BASE_URL".to_owned()),
        _ => {}
    }
    names.into_iter().find_map(|name| variables.get(&name).map(|value| (name, value)))
}

/// Organisation and project, as OpenAI's own client reads them.
fn headers(provider: &str, variables: &Variables) -> Vec<(String, String)> {
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

/// The address as `genai` wants it. Each provider's own client adds another part of the path by itself, so
/// what its variable holds differs: Anthropic's has no `/v1`, Ollama's often no scheme.
fn with_path(provider: &str, setting: &str, url: &str) -> Result<String, LmError> {
    let bad = |reason: &str| LmError::BadSetting {
        setting: setting.to_owned(),
        found: shown(url),
        reason: reason.to_owned(),
    };
    let mut text = url.to_owned();
    if provider == "ollama" && !text.contains("://") {
        text = format!("http://{text}");
    }
    let mut parsed = reqwest::Url::parse(&text)
        .map_err(|_| bad("it should be an address such as https://example.org/v1"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none() {
        return Err(bad("it should begin with http:// or https://"));
    }
    if provider == "ollama" && parsed.port().is_none() && parsed.scheme() == "http" {
        // It can only fail for addresses without a host.
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

/// An address without user, password, query and fragment, any of which may be a key.
pub(super) fn shown(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(mut url) => {
            // These fail only for addresses that have no place for either.
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
