import { GantryError } from '../core/error.ts'
import { asObject, asString, parseJson } from '../core/json-fields.ts'
import { readTextIfExists } from '../io/directory.ts'
import type { RunPlan } from './contract.ts'
import { isSafeName, runFile } from './run-paths.ts'

/** The frozen plan; null when the run never had one. Throws GantryError CORRUPT when it is damaged. */
export function readPlan(runDir: string): RunPlan | null {
  const path = runFile.plan(runDir)
  const text = readTextIfExists(path)
  if (text === null) return null
  const plan = parsePlan(text)
  if (plan !== null) return plan
  throw new GantryError('CORRUPT', `${path} is damaged`, {
    hint: 'The run cannot be resumed. Its finished trials are still in trials/. Start a new run.',
  })
}

/** Ids in plan order. A damaged plan throws, or counts as no plan. */
export function plannedIds(runDir: string, damaged: 'throw' | 'skip'): string[] {
  const plan =
    damaged === 'throw' ? readPlan(runDir) : parsePlan(readTextIfExists(runFile.plan(runDir)) ?? '')
  return plan?.trials.map(({ id }) => id) ?? []
}

function parsePlan(text: string): RunPlan | null {
  const value = asObject(parseJson(text))
  const isPlan = Array.isArray(value?.trials) && value.trials.every(isPlannedTrial)
  return isPlan ? (value as unknown as RunPlan) : null
}

function isPlannedTrial(value: unknown): boolean {
  const id = asString(asObject(value)?.id)
  return id !== undefined && isSafeName(id)
}
