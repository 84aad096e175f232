import { GantryError } from '../core/error.ts'
import { asObject, asString, parseJson } from '../core/json-fields.ts'
import { readTextIfExists } from '../io/directory.ts'
import { type LineFile, openLines } from '../io/line-file.ts'
import type { RunPlan } from './contract.ts'
import { isSafeName, runFile } from './run-paths.ts'
import { idOfLine, recordHeadBytes } from './trial-record.ts'

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

/** Ids in plan order, one after the other, because a plan may have a million. A damaged plan throws, or counts as no plan. */
export function* plannedIds(runDir: string, damaged: 'throw' | 'skip'): Generator<string> {
  const lines = openLines(runFile.plan(runDir), recordHeadBytes)
  try {
    if (lines !== null && isByLine(lines)) {
      for (const { head, offset } of lines.spans()) {
        const id = offset === 0 ? null : idOfLine(head)
        if (id !== null) yield id
      }
      return
    }
  } finally {
    lines?.close()
  }
  const plan =
    damaged === 'throw' ? readPlan(runDir) : parsePlan(readTextIfExists(runFile.plan(runDir)) ?? '')
  for (const { id } of plan?.trials ?? []) yield id
}

/** 0 without a plan, or when it is damaged. */
export function countPlanned(runDir: string): number {
  let count = 0
  for (const _ of plannedIds(runDir, 'skip')) count += 1
  return count
}

/** Whether the plan has one trial per line, as this version writes it. */
function isByLine(lines: LineFile): boolean {
  let isEnded = false
  for (const { head, offset } of lines.spans()) {
    isEnded = head === ']}'
    if (offset > 0 && !isEnded && idOfLine(head) === null) return false
  }
  return isEnded
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
