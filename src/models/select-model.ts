import { GantryError } from '../core/error.ts'
import type { Variables } from '../core/expand.ts'

/** The models of `default` when AGENT_LLM_MODEL is not set. A custom endpoint has no default: only its owner knows its models. */
export const defaultModels = { anthropic: 'claude-sonnet-5-5', openai: 'gpt-6.1-terra' } as const

/**
 * The model that `default` selects: a custom endpoint before Anthropic before OpenAI; AGENT_LLM_MODEL names the model.
 * null when there is no access to any.
 */
export function selectModel(env: Variables): string | null {
  const isSet = (variable: string): boolean => firstSet(env, [variable]) !== null
  const named = firstSet(env, ['AGENT_LLM_MODEL'])?.value
  if (isSet('AGENT_LLM_BASE_URL')) {
    if (named === undefined)
      throw new GantryError('USAGE', 'AGENT_LLM_BASE_URL is set, but AGENT_LLM_MODEL is not', {
        hint: 'Set AGENT_LLM_MODEL to a model of that endpoint.',
      })
    return `openai-compatible:${named}`
  }
  if (isSet('ANTHROPIC_API_KEY')) return `anthropic:${named ?? defaultModels.anthropic}`
  if (isSet('OPENAI_API_KEY')) return `openai:${named ?? defaultModels.openai}`
  return null
}

export function requireModel(env: Variables): string {
  const name = selectModel(env)
  if (name !== null) return name
  throw new GantryError('NOT_FOUND', 'cannot proceed without model access', {
    hint: 'Set AGENT_LLM_BASE_URL and AGENT_LLM_MODEL, or ANTHROPIC_API_KEY, or OPENAI_API_KEY; or name a model as provider:model.',
  })
}

/** The variables with a key, the likeliest first. */
export const keyVariables = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  'openai-compatible': ['AGENT_LLM_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
} as const satisfies Record<string, readonly string[]>

/** The first of these variables that is set; an empty one is not set. */
export function firstSet(env: Variables, variables: readonly string[]) {
  for (const variable of variables) {
    const value = env[variable]?.trim()
    if (value !== undefined && value !== '') return { variable, value }
  }
  return null
}

/**
 * For `gantry doctor`: whether each provider can be used, according to the environment, in the order in which `default` checks them.
 * Sends no request.
 */
export function modelAccess(env: Variables) {
  const endpoint = firstSet(env, ['AGENT_LLM_BASE_URL'])
  return [
    {
      provider: 'openai-compatible',
      usable: endpoint !== null,
      /** The variable that gives access, or the missing one. */
      detail: endpoint === null ? 'set AGENT_LLM_BASE_URL' : `AGENT_LLM_BASE_URL is ${endpoint.value}`,
    },
    keyed(env, 'anthropic'),
    keyed(env, 'openai'),
    keyed(env, 'google'),
  ]
}

function keyed(env: Variables, provider: 'anthropic' | 'openai' | 'google') {
  const key = firstSet(env, keyVariables[provider])
  return {
    provider,
    usable: key !== null,
    detail: key === null ? `set ${keyVariables[provider].join(' or ')}` : `${key.variable} is set`,
  }
}
