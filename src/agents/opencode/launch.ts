import { join } from 'node:path'
import type { ModelEndpoint } from '../../models/boundary/contract.ts'
import type { CliLaunch } from '../cli/contract.ts'
import type { AgentRequest } from '../contract.ts'
import type { OpencodeAgentConfig } from './schema.ts'

/** As an argument a prompt with a space would arrive in quotes; stdin keeps it unchanged, with a leading dash too. */
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
      // Overrides every other settings file, and is never on disk.
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
            // It looks for its own package at every start; the endpoint answers at once that there is none.
            npm_config_registry: `${endpoint.url}/npm/`,
            npm_config_fetch_retries: '0',
          }),
    },
    stdin: prompt,
    files:
      isolated && given
        ? [
            {
              path: join(env.XDG_CONFIG_HOME ?? join(env.HOME ?? '', '.config'), 'opencode', 'opencode.json'),
              content: JSON.stringify(config.config, null, 2),
            },
          ]
        : [],
    warnings:
      !isolated && given
        ? ["config has no effect: with home: host opencode reads the caller's opencode.json."]
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

interface Provider {
  /** `provider/model`, the format of opencode. */
  readonly model: string
  /** The part of opencode.json that sends only this model to the endpoint. */
  readonly config: Readonly<Record<string, unknown>>
}

/** The bundled clients that opencode uses for a provider, and the path they need after the endpoint's address. */
const clients: Readonly<Record<string, { readonly npm: string; readonly path: string }>> = {
  anthropic: { npm: '@ai-sdk/anthropic', path: '/v1' },
  openai: { npm: '@ai-sdk/openai', path: '/v1' },
  google: { npm: '@ai-sdk/google', path: '/v1beta' },
}

const plain = { npm: '@ai-sdk/openai-compatible', path: '/v1' }

/** A model of a known provider keeps that provider's API format; any other uses chat completions. */
function providerFor(model: string, { url, key }: ModelEndpoint): Provider {
  const slash = model.indexOf('/')
  const client = clients[model.slice(0, Math.max(0, slash))]
  const provider = client === undefined ? 'gantry' : model.slice(0, slash)
  const name = client === undefined ? model : model.slice(slash + 1)
  const { npm, path } = client ?? plain
  const full = `${provider}/${name}`
  return {
    model: full,
    config: {
      provider: {
        [provider]: {
          npm,
          options: { baseURL: `${url}${path}`, apiKey: key },
          models: { [name]: { name, limit: { context: 1_000_000, output: 32_000 } } },
        },
      },
      enabled_providers: [provider],
      model: full,
      small_model: full,
    },
  }
}
