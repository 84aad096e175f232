import type { TargetConfig } from '../config/target-schema.ts'
import type { OwnGate } from '../gates/define-gate.ts'
import type { SourceFile } from '../io/yaml.ts'
import type { Rubric } from '../judge/rubric.ts'
import type { Scenario } from './schema.ts'

/** A scenario that has been read, resolved and checked: everything it refers to exists. */
export interface Case {
  readonly name: string
  /** Absolute. */
  readonly file: string
  /** For display: relative to the project when inside it. */
  readonly shownFile: string
  readonly source: SourceFile<Scenario>
  readonly scenario: Scenario
  /** The gates of the user that it uses. */
  readonly ownGates: readonly OwnGate[]
  readonly target: TargetConfig
  /** Absolute path of the tool when it is a file outside the workspace; null when it is found on PATH or in the workspace. */
  readonly targetProgram: string | null
  /** Absolute. */
  readonly templateDir: string
  readonly rubric: { readonly path: string; readonly value: Rubric } | null
  /** Template files that grade the agent; restored when it changed them. */
  readonly graderFiles: readonly string[]
  /** Template files with the solution; hidden from the agent. */
  readonly oracleFiles: readonly string[]
}

/** Whether a judge compares its results with those of another arm, instead of scoring each. */
export function isPairwise(entry: Case | undefined): boolean {
  return entry?.rubric != null && entry.scenario.evaluation.judge?.mode === 'pairwise'
}
