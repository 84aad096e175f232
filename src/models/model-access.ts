import { firstSet, keyVariables } from './select-model.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Whether a provider could be asked now, as far as the environment tells. Sends nothing. */
export interface ProviderAccess {
  readonly provider: string
  readonly usable: boolean
  /** What lets us in, or what is missing and would. */
  readonly detail: string
}

/** For `gantry doctor`: every provider that needs something of the environment, in the order in which `default` looks. */
export function modelAccess(env: Env): readonly ProviderAccess[] {
  const endpoint = firstSet(env, ['AGENT_LLM_BASE_URL'])
  return [
    {
      provider: 'openai-compatible',
      usable: endpoint !== null,
      detail: endpoint === null ? 'set AGENT_LLM_BASE_URL' : `AGENT_LLM_BASE_URL is ${endpoint.value}`,
    },
    keyed(env, 'anthropic'),
    keyed(env, 'openai'),
    keyed(env, 'google'),
  ]
}

function keyed(env: Env, provider: 'anthropic' | 'openai' | 'google'): ProviderAccess {
  const key = firstSet(env, keyVariables[provider])
  return {
    provider,
    usable: key !== null,
    detail: key === null ? `set ${keyVariables[provider].join(' or ')}` : `${key.variable} is set`,
  }
}
