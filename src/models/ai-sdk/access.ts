import { GantryError } from '../../core/error.ts'
import type { Variables } from '../../core/expand.ts'
import { firstSet, keyVariables } from '../select-model.ts'

export interface Access {
  readonly baseURL: string
  readonly apiKey: string
}

export function anthropicAccess(env: Variables, name: string): Access {
  return {
    baseURL: baseUrl(env, 'ANTHROPIC_BASE_URL', 'https://api.anthropic.com/v1', 'v1'),
    apiKey: requireKey(env, name, keyVariables.anthropic),
  }
}

export function openaiAccess(env: Variables, name: string): Access {
  return {
    baseURL: baseUrl(env, 'OPENAI_BASE_URL', 'https://api.openai.com/v1'),
    apiKey: requireKey(env, name, keyVariables.openai),
  }
}

export function googleAccess(env: Variables, name: string): Access {
  return {
    baseURL: baseUrl(
      env,
      'GOOGLE_GEMINI_BASE_URL',
      'https://generativelanguage.googleapis.com/v1beta',
      'v1beta',
    ),
    apiKey: requireKey(env, name, keyVariables.google),
  }
}

/** A self-hosted server may need no key; then none is sent. */
export function compatibleAccess(env: Variables): { readonly baseURL: string; readonly apiKey?: string } {
  const baseURL = baseUrl(env, 'AGENT_LLM_BASE_URL', '')
  if (baseURL === '')
    throw new GantryError(
      'NOT_FOUND',
      'an openai-compatible model needs an address: AGENT_LLM_BASE_URL is not set',
      { hint: 'Set AGENT_LLM_BASE_URL to the base URL of the API, such as http://localhost:8000/v1.' },
    )
  const apiKey = firstSet(env, keyVariables['openai-compatible'])
  return { baseURL, ...(apiKey !== null && { apiKey: apiKey.value }) }
}

function requireKey(env: Variables, name: string, variables: readonly string[]): string {
  const key = firstSet(env, variables)
  if (key !== null) return key.value
  const [first, ...others] = variables
  const also = others.length === 0 ? '' : ` (${others.join(' and ')} also works)`
  throw new GantryError('NOT_FOUND', `no key for ${name}: ${first} is not set`, {
    hint: `Set ${first}${also}, or choose a model of another provider.`,
  })
}

/**
 * An address from the environment, without a trailing slash. `version` is the path segment that the SDK requires and
 * users leave out, as in the agents' own variables. It is added when the address has no version.
 */
function baseUrl(env: Variables, variable: string, standard: string, version?: string): string {
  const given = env[variable]?.trim()
  if (given === undefined || given === '') return standard
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new GantryError('USAGE', `${variable} is not a valid address: ${JSON.stringify(given)}`, {
      hint: 'Write it with http:// or https:// in front.',
    })
  const trimmed = given.replace(/\/+$/, '')
  return version === undefined || /\/v\d+(?:alpha|beta)?$/.test(trimmed) ? trimmed : `${trimmed}/${version}`
}
