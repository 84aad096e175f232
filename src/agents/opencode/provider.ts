import type { ModelEndpoint } from '../../models/boundary/contract.ts'

interface Provider {
  /** `provider/model`, as opencode wants it. */
  readonly model: string
  /** The part of opencode.json that sends this model, and no other, to the endpoint. */
  readonly config: Readonly<Record<string, unknown>>
}

/** The bundled clients by which opencode reaches a provider, and what they want behind the endpoint's address. */
const clients: Readonly<Record<string, { readonly npm: string; readonly path: string }>> = {
  anthropic: { npm: '@ai-sdk/anthropic', path: '/v1' },
  openai: { npm: '@ai-sdk/openai', path: '/v1' },
  google: { npm: '@ai-sdk/google', path: '/v1beta' },
}

const plain = { npm: '@ai-sdk/openai-compatible', path: '/v1' }

/** A model of a provider that we know keeps that provider's own way of speaking; any other name is asked by chat completions. */
export function providerFor(model: string, { url, key }: ModelEndpoint): Provider {
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
