import { join } from 'node:path'
import type { CliLaunch } from '../cli/contract.ts'
import type { AgentRequest } from '../contract.ts'
import type { CodexAgentConfig } from './schema.ts'
import { tomlSetting } from './toml.ts'

/**
 * Codex has a list of models: with an unknown name it has no patch tool, and the newer models get one tool that runs
 * JavaScript instead of shell and patch. This is the newest bundled model with the plain tools.
 */
const plainModel = 'gpt-5.5'

/** `codex exec` takes the prompt from stdin, where its length and a leading dash do not matter. */
export function launchCodex(config: CodexAgentConfig, request: AgentRequest): CliLaunch {
  const { endpoint, env } = request
  const codexHome = env.CODEX_HOME ?? join(env.HOME ?? '', '.codex')
  const isolated = config.home === 'isolated'
  const settings = settingsOf(request)
  const own = Object.entries(config.config).map(([key, value]) => tomlSetting(key, value))
  return {
    args: [
      'exec',
      '--json',
      '--skip-git-repo-check',
      // With plugins enabled it clones a repository at the start and contacts three hosts.
      ...['--disable', 'plugins'],
      ...permissionArgs(config),
      ...(config.trust_hooks ? ['--dangerously-bypass-hook-trust'] : []),
      ...modelArgs(request),
      ...(config.profile === undefined || isolated ? [] : ['--profile', config.profile]),
      ...(isolated ? own : [...settings, ...own]).flatMap((setting) => ['-c', setting]),
      ...(config.reasoning_effort === undefined
        ? []
        : ['-c', tomlSetting('model_reasoning_effort', config.reasoning_effort)]),
      '-',
    ],
    env: {
      CODEX_HOME: codexHome,
      ...(endpoint === undefined ? ownKey(env) : { [keyVariable]: endpoint.key }),
    },
    stdin: request.prompt,
    files: isolated ? [{ path: join(codexHome, 'config.toml'), content: `${settings.join('\n')}\n` }] : [],
    warnings:
      isolated && config.profile !== undefined
        ? ['profile has no effect: an isolated home has no profiles; put its settings into config.']
        : [],
  }
}

const keyVariable = 'GANTRY_MODEL_KEY'

/** `codex exec` reads its key from a different variable than other clients of the provider. */
function ownKey({ OPENAI_API_KEY, CODEX_API_KEY }: AgentRequest['env']): Readonly<Record<string, string>> {
  return OPENAI_API_KEY === undefined || CODEX_API_KEY !== undefined ? {} : { CODEX_API_KEY: OPENAI_API_KEY }
}

function settingsOf({ endpoint, workspace, env }: AgentRequest): readonly string[] {
  return [
    ...(endpoint !== undefined || env.OPENAI_BASE_URL === undefined
      ? []
      : [tomlSetting('openai_base_url', env.OPENAI_BASE_URL)]),
    tomlSetting('check_for_update_on_startup', false),
    tomlSetting('analytics.enabled', false),
    // The project's own settings and hooks are read only in a trusted directory.
    tomlSetting(`projects.${JSON.stringify(workspace)}.trust_level`, 'trusted'),
    ...(endpoint === undefined
      ? []
      : [
          tomlSetting('model_provider', 'gantry'),
          tomlSetting('model_providers.gantry.name', 'gantry'),
          tomlSetting('model_providers.gantry.base_url', `${endpoint.url}/v1`),
          tomlSetting('model_providers.gantry.env_key', keyVariable),
          tomlSetting('model_providers.gantry.wire_api', 'responses'),
        ]),
  ]
}

function permissionArgs({ sandbox, approval_policy }: CodexAgentConfig): readonly string[] {
  return sandbox === 'danger-full-access' && approval_policy === 'never'
    ? ['--dangerously-bypass-approvals-and-sandbox']
    : [
        ...(sandbox === 'default' ? [] : ['--sandbox', sandbox]),
        '-c',
        tomlSetting('approval_policy', approval_policy),
      ]
}

function modelArgs({ model, endpoint }: AgentRequest): readonly string[] {
  if (model !== 'default') return ['--model', model]
  return endpoint === undefined ? [] : ['--model', plainModel]
}
