import { GantryError } from '../../../core/error.ts'
import type { Execution, PluginTranscript, PluginTrial } from '../../execute/contract.ts'
import type { PluginScenario } from '../../generate/contract.ts'
import { readExecution, readTranscript } from './stored-shapes.ts'

/** A trial on disk. Its parts are read when its turn comes, and let go of before the next. */
export interface StoredTrial {
  readonly trial: PluginTrial
  readonly scenario: PluginScenario
  /** As it was read, whatever it is; null or undefined when it is not there. May throw GantryError CORRUPT. */
  execution(): unknown
  /** The same; `missing` and `damaged` are understood, too. */
  transcript(): unknown
}

export type TrialTraces =
  | { readonly kind: 'whole'; readonly execution: Execution; readonly transcript: PluginTranscript | null }
  /** In which words it cannot be believed. What it cost is known when its execution is. */
  | { readonly kind: 'damaged'; readonly why: string; readonly execution: Execution | null }

/** What a trial left behind, looked at before it is believed. A transcript that is not there is none; one that was cut is damage. */
export async function readTrial({ trial, execution, transcript }: StoredTrial): Promise<TrialTraces> {
  const first = await load(execution)
  if (first === undefined) return damaged('its execution is not there')
  const ran = readExecution(first)
  if (ran.kind === 'damaged') return damaged(`its execution is damaged: ${ran.why}`)
  if (ran.value.trial.id !== trial.id) return damaged(`its execution is of trial ${ran.value.trial.id}`)
  const second = await load(transcript)
  if (second === undefined) return { kind: 'whole', execution: ran.value, transcript: null }
  const said = readTranscript(second)
  if (said.kind === 'read') return { kind: 'whole', execution: ran.value, transcript: said.value }
  // What broke or was invalid in the first place stays so, with or without its words.
  if (isMoot(ran.value)) return { kind: 'whole', execution: ran.value, transcript: null }
  return { kind: 'damaged', why: `its transcript is damaged: ${said.why}`, execution: ran.value }
}

/** Whether a trial says nothing about the plugin, whatever stands in its traces. */
export function isMoot({ failure, invalid }: Execution): boolean {
  return failure !== undefined || invalid !== undefined
}

function damaged(why: string): TrialTraces {
  return { kind: 'damaged', why, execution: null }
}

/** undefined when it is not there; what is no JSON comes back as a text, which nothing here is. */
async function load(read: () => unknown): Promise<unknown> {
  try {
    const value = await read()
    return value === null || value === 'missing' ? undefined : value
  } catch (error) {
    if (error instanceof GantryError && error.code === 'CORRUPT') return error.message
    throw error
  }
}
