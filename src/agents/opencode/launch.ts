import { join } from 'node:path'
import type { CliLaunch } from '../cli/contract.ts'
import type { AgentRequest } from '../contract.ts'
import { providerFor } from './provider.ts'
import type { OpencodeAgentConfig } from './schema.ts'

/** As an argument a prompt with a space would arrive in quotes; by stdin it arrives as it is, and may begin with a dash. */
export function launchOpencode(config: OpencodeAgentConfig, request: AgentRequest): CliLaunch {
  const { endpoint, env, model, prompt } = request
  const provider = endpoint === undefined ? null : providerFor(model, endpoint)
  const chosen = provider?.model ?? (model === 'default' ? null : model)
  const isolated = config.home === 'isolated'
  const given = Object.keys(config.config).length > 0
  return {
    args: [
      'run',
      ...['--format', 'json'],
      '--thinking',
      ...(chosen === null ? [] : ['--model', chosen]),
      ...(config.agent === undefined ? [] : ['--agent', config.agent]),
      ...(config.variant === undefined ? [] : ['--variant', config.variant]),
    ],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      // Laid over every other settings file, and never on disk.
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        ...(config.approve === 'all' ? { permission: everything } : {}),
        ...provider?.config,
      }),
      ...(endpoint === undefined
        ? {}
        : {
            OPENCODE_DISABLE_MODELS_FETCH: '1',
            // It looks for a package of its own at every start; the endpoint says at once that it has none.
            npm_config_registry: `${endpoint.url}/npm/`,
            npm_config_fetch_retries: '0',
          }),
    },
    stdin: prompt,
    files:
      isolated && given
        ? [
            {
              path: join(configHome(env), 'opencode', 'opencode.json'),
              content: JSON.stringify(config.config, null, 2),
            },
          ]
        : [],
    warnings:
      !isolated && given
        ? ["config could not act: with home: host opencode reads the caller's opencode.json."]
        : [],
  }
}

const everything = {
  edit: 'allow',
  bash: 'allow',
  webfetch: 'allow',
  external_directory: 'allow',
  doom_loop: 'allow',
}

function configHome({ XDG_CONFIG_HOME, HOME = '' }: AgentRequest['env']): string {
  return XDG_CONFIG_HOME ?? join(HOME, '.config')
}
