import { resolve } from 'node:path'
import type { ModelEndpoint } from '../../models/boundary/contract.ts'
import type { CliLaunch, CliPlace } from '../cli/contract.ts'
import type { AgentRequest } from '../contract.ts'
import type { CopilotAgentConfig } from './schema.ts'

/**
 * Copilot refuses to start with a custom provider and no model. For an unknown name it offers its plain tools and uses
 * our value for the prompt size.
 */
const anyModel = {
  COPILOT_PROVIDER_MODEL_ID: 'any',
  COPILOT_PROVIDER_WIRE_MODEL: 'gpt-4.1',
  COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '1000000',
}

/** The prompt goes to stdin, where its length and a leading dash do not matter. */
export function launchCopilot(
  config: CopilotAgentConfig,
  request: AgentRequest,
  { base, cache }: CliPlace,
): CliLaunch {
  const { endpoint, model, prompt } = request
  return {
    args: [
      config.allow === 'all' ? '--allow-all' : '--allow-all-tools',
      ...(config.trust_folder ? ['--trust-folder'] : []),
      '--no-ask-user',
      '--no-auto-update',
      '--no-color',
      '--disable-client-telemetry',
      ...['--output-format', 'json'],
      ...(model === 'default' || endpoint !== undefined ? [] : ['--model', model]),
      ...(config.agent === undefined ? [] : ['--agent', config.agent]),
      ...(config.reasoning_effort === undefined ? [] : ['--reasoning-effort', config.reasoning_effort]),
      ...config.plugins.flatMap((path) => ['--plugin-dir', resolve(base, path)]),
    ],
    env: {
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PKG_CACHE_HOME:
        config.package_cache === undefined ? cache : resolve(base, config.package_cache),
      ...(endpoint === undefined ? {} : providerEnv(config, endpoint, model)),
    },
    stdin: prompt,
  }
}

/** Offline it signs in nowhere and contacts only this provider. */
function providerEnv(
  { model_api }: CopilotAgentConfig,
  { url, key }: ModelEndpoint,
  model: string,
): Readonly<Record<string, string>> {
  const api = model_api === 'auto' ? (model.startsWith('claude') ? 'anthropic' : 'openai-chat') : model_api
  const provider =
    api === 'anthropic'
      ? { COPILOT_PROVIDER_TYPE: 'anthropic', COPILOT_PROVIDER_BASE_URL: url }
      : {
          COPILOT_PROVIDER_TYPE: 'openai',
          COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
          COPILOT_PROVIDER_WIRE_API: api === 'openai-responses' ? 'responses' : 'completions',
        }
  return {
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_API_KEY: key,
    ...(model === 'default' ? anyModel : { COPILOT_MODEL: model }),
    ...provider,
  }
}
