import type { TargetConfig } from '../config/target-schema.ts'
import type { SourceFile } from '../io/yaml.ts'
import type { Rubric } from '../judge/rubric.ts'
import type { Scenario } from './schema.ts'

/** A scenario that has been read, resolved and found sound: everything it refers to is there. */
export interface Case {
  readonly name: string
  /** Absolute. */
  readonly file: string
  /** For people: relative to the project when inside it. */
  readonly shownFile: string
  readonly source: SourceFile<Scenario>
  readonly scenario: Scenario
  readonly target: TargetConfig
  /** Absolute path of the tool when it is a file outside the workspace; null when it is found on PATH or in the workspace. */
  readonly targetProgram: string | null
  /** Absolute. */
  readonly templateDir: string
  readonly rubric: { readonly path: string; readonly value: Rubric } | null
  /** Template files that grade the agent: put back when it changed them. */
  readonly graderFiles: readonly string[]
  /** Template files that hold the solution: kept away from the agent. */
  readonly oracleFiles: readonly string[]
}
