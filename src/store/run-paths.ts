import { join } from 'node:path'
import { GantryError } from '../core/error.ts'

export const runFile = {
  manifest: (runDir: string): string => join(runDir, 'manifest.json'),
  manifestLock: (runDir: string): string => join(runDir, 'manifest.lock'),
  lock: (runDir: string): string => join(runDir, 'lock'),
  plan: (runDir: string): string => join(runDir, 'plan.json'),
  summary: (runDir: string): string => join(runDir, 'summary.json'),
  events: (runDir: string): string => join(runDir, 'events.jsonl'),
  inputs: (runDir: string): string => join(runDir, 'inputs'),
  inputIndex: (runDir: string): string => join(runDir, 'inputs', 'index.jsonl'),
  trials: (runDir: string): string => join(runDir, 'trials'),
  trialLog: (runDir: string): string => join(runDir, 'trials.jsonl'),
  logs: (runDir: string): string => join(runDir, 'logs'),
  reports: (runDir: string): string => join(runDir, 'reports'),
} as const

export function trialPath(runDir: string, trialId: string): string {
  return join(runDir, 'trials', requireName('trial id', trialId))
}

export function resultPath(runDir: string, trialId: string): string {
  return join(trialPath(runDir, trialId), 'result.json')
}

export function checkpointPath(runDir: string, trialId: string, name: string): string {
  return join(trialPath(runDir, trialId), `checkpoint-${requireName('checkpoint name', name)}.json`)
}

/** A name that is one path segment on every system, or GantryError UNSAFE_PATH. */
export function requireName(what: string, name: string): string {
  if (isSafeName(name)) return name
  throw new GantryError('UNSAFE_PATH', `${what} ${JSON.stringify(name)} cannot be a file name`, {
    hint: 'Use letters, digits, ".", "_" and "-", beginning with a letter or digit, at most 150 characters.',
  })
}

export function isSafeName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,149}$/.test(name)
}
