import type { AgentRequest } from '../contract.ts'
import type { Script, Step, When } from './schema.ts'

export interface Part {
  readonly turns: readonly Step[]
  readonly on_stop_refused: readonly (readonly Step[])[]
}

/** The first script whose conditions all hold, else the default turns; null when there is nothing to play. */
export function choosePart(
  script: Script,
  request: Pick<AgentRequest, 'prompt' | 'model' | 'env'>,
): Part | null {
  const fitting = script.scripts.find(({ when }) => fits(when, request))
  if (fitting !== undefined) return fitting
  return script.turns === undefined ? null : { turns: script.turns, on_stop_refused: script.on_stop_refused }
}

function fits(when: When, { prompt, model, env }: Pick<AgentRequest, 'prompt' | 'model' | 'env'>): boolean {
  const name = env.GANTRY_SCENARIO ?? env.LLM_TOOL_TEST_SCENARIO
  // An attempt nobody numbered is the first one.
  const attempt = Number(env.GANTRY_ATTEMPT ?? '1')
  return (
    (when.case === undefined || when.case === name) &&
    (when.attempt === undefined || when.attempt === attempt) &&
    (when.prompt === undefined || when.prompt === prompt) &&
    (when.prompt_contains === undefined || prompt.includes(when.prompt_contains)) &&
    (when.model === undefined || when.model === model)
  )
}
