/** The variables that let us in, the likeliest first. */
export const keyVariables = {
  anthropic: ['ANTHROPIC_API_KEY'],
  openai: ['OPENAI_API_KEY'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  'openai-compatible': ['AGENT_LLM_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
} as const satisfies Record<string, readonly string[]>

/** The first of these variables that is set; one that is empty is not set. */
export function firstSet(
  env: Readonly<Record<string, string | undefined>>,
  variables: readonly string[],
): { readonly variable: string; readonly value: string } | null {
  for (const variable of variables) {
    const value = env[variable]?.trim()
    if (value !== undefined && value !== '') return { variable, value }
  }
  return null
}
