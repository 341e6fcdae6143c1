//! The providers: their names, wire formats and addresses.

use super::super::model_id::ALIASES;
use super::super::{LmError, LmErrorKind};
use Format::{Anthropic, Gemini, OpenAi};
use dsrs_metrics_values::messages::suggest::nearest;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    OpenAi,
    Anthropic,
    Gemini,
}

/// A provider.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) name: &'static str,
    format: Format,
    /// The default address of its API, with a slash at its end.
    pub(super) base_url: &'static str,
}

/// The providers in the order of their names. The page `docs/guide/models.md` has a row for each.
const PROVIDERS: [Provider; 33] = [
    provider("aihubmix", OpenAi, "https://aihubmix.com/v1/"),
    provider(
        "aliyun",
        OpenAi,
        "https://dashscope.aliyuncs.com/compatible-mode/v1/",
    ),
    provider("anthropic", Anthropic, "https://api.anthropic.com/v1/"),
    provider("api_route", OpenAi, "https://global.api-route.com/v1/"),
    provider("atlascloud", OpenAi, "https://api.atlascloud.ai/v1/"),
    provider("baidu", OpenAi, "https://qianfan.baidubce.com/v2/"),
    provider("bigmodel", OpenAi, "https://open.bigmodel.cn/api/paas/v4/"),
    provider("cloudgpu", OpenAi, "https://cloudgpu.app/v1/"),
    provider("cohere", OpenAi, "https://api.cohere.ai/compatibility/v1/"),
    provider("deepseek", OpenAi, "https://api.deepseek.com/v1/"),
    provider(
        "fireworks",
        OpenAi,
        "https://api.fireworks.ai/inference/v1/",
    ),
    provider(
        "gemini",
        Gemini,
        "https://generativelanguage.googleapis.com/v1beta/",
    ),
    provider(
        "github_copilot",
        OpenAi,
        "https://models.github.ai/inference/",
    ),
    provider("groq", OpenAi, "https://api.groq.com/openai/v1/"),
    provider("heabsy", OpenAi, "https://api.heabsy.com/v1/"),
    provider("kimi", OpenAi, "https://api.moonshot.ai/v1/"),
    provider("mimo", OpenAi, "https://api.mimo.com/openai/v1/"),
    provider("minimax", Anthropic, "https://api.minimax.io/anthropic/v1/"),
    provider("mistral", OpenAi, "https://api.mistral.ai/v1/"),
    provider("moonshot", OpenAi, "https://api.moonshot.cn/v1/"),
    provider("nebius", OpenAi, "https://api.studio.nebius.ai/v1/"),
    provider("ollama", OpenAi, "http://localhost:11434/v1/"),
    provider("ollama_cloud", OpenAi, "https://ollama.com/v1/"),
    provider("omlx", OpenAi, "http://127.0.0.1:8000/v1/"),
    provider("open_router", OpenAi, "https://openrouter.ai/api/v1/"),
    provider("openai", OpenAi, "https://api.openai.com/v1/"),
    provider("opencode_go", OpenAi, "https://opencode.ai/zen/go/v1/"),
    provider(
        "qwen_cloud",
        OpenAi,
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/",
    ),
    provider("requesty", OpenAi, "https://router.requesty.ai/v1/"),
    provider("runcrate", OpenAi, "https://api.runcrate.ai/v1/"),
    provider("together", OpenAi, "https://api.together.xyz/v1/"),
    provider("xai", OpenAi, "https://api.x.ai/v1/"),
    provider("zai", OpenAi, "https://api.z.ai/api/paas/v4/"),
];

const fn provider(name: &'static str, format: Format, base_url: &'static str) -> Provider {
    Provider {
        name,
        format,
        base_url,
    }
}

/// Beginnings of the names of providers that have no default address, since it contains the account's project or
/// region, and their OpenAI-compatible address.
const WITHOUT_DEFAULT: [(&str, &str); 2] = [
    (
        "bedrock",
        "https://bedrock-runtime.REGION.amazonaws.com/openai/v1",
    ),
    (
        "vertex",
        "https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/endpoints/openapi",
    ),
];

/// The provider of this canonical name.
pub(super) fn find(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The error of the model `id`, whose provider is not known by the canonical name `name`.
pub(super) fn unknown(id: &str, name: &str, model: &str) -> LmError {
    let known = PROVIDERS.map(|provider| provider.name);
    let address = WITHOUT_DEFAULT
        .iter()
        .find(|(beginning, _)| name.starts_with(beginning));
    let similar = match name.strip_prefix("genai_") {
        // The name of a server that variables configured.
        Some(_) => Some("openai"),
        None => nearest(
            name,
            known.into_iter().chain(ALIASES.map(|(alias, _)| alias)),
        ),
    };
    LmErrorKind::UnknownProvider {
        id: id.to_owned(),
        suggestion: similar.map(|provider| format!("{provider}:{model}")),
        address: address.map(|(_, url)| (*url).to_owned()),
        known: known.join(", "),
    }
    .into()
}

impl Provider {
    /// The variables of the key. Messages name the first one.
    pub(super) fn key_variables(&self) -> Vec<String> {
        let usual = format!("{}_API_KEY", self.name.to_uppercase());
        let (first, alias) = match self.name {
            "gemini" => (usual, Some("GOOGLE_API_KEY")),
            "github_copilot" => ("GITHUB_TOKEN".to_owned(), None),
            "ollama_cloud" => ("OLLAMA_API_KEY".to_owned(), None),
            "open_router" => (usual, Some("OPENROUTER_API_KEY")),
            "together" => (usual, Some("TOGETHER_AI_API_KEY")),
            _ => (usual, None),
        };
        std::iter::once(first)
            .chain(alias.map(str::to_owned))
            .collect()
    }

    /// Whether its default address is on this machine, where no key is required.
    pub(super) fn is_local(&self) -> bool {
        self.base_url.starts_with("http://")
    }

    /// The format of a model. OpenCode serves the models of MiniMax in the format of Anthropic.
    pub(super) fn format_of(&self, model: &str) -> Format {
        let is_minimax = || model.to_lowercase().starts_with("minimax-");
        if self.name == "opencode_go" && is_minimax() {
            Anthropic
        } else {
            self.format
        }
    }

    /// The name of a model in requests. That of a model of Fireworks itself may leave out its account.
    pub(super) fn model_name(&self, model: &str) -> String {
        match self.name == "fireworks" && !model.contains('/') {
            true => format!("accounts/fireworks/models/{model}"),
            false => model.to_owned(),
        }
    }
}
