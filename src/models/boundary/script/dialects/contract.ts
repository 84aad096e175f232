import type { ScriptCall } from '../call-schema.ts'
import type { WorkspaceView } from '../workspace-view.ts'

/** What a script can ask for without knowing the agent. */
export interface Acts {
  readonly run: { readonly command: string }
  readonly write: NonNullable<ScriptCall['write']>
  readonly edit: NonNullable<ScriptCall['edit']>
  readonly read: NonNullable<ScriptCall['read']>
  readonly subagent: NonNullable<ScriptCall['subagent']>
  /** The last word of an agent that has to hand it in. */
  readonly finish: { readonly text: string }
}

/** One tool that does it. `input` is null when this tool cannot do this one; then the next one is asked. */
export interface Word<Act> {
  readonly tool: string
  /** It can be used when this one is offered, although it is not offered itself. */
  readonly comesWith?: string
  input(act: Act, view: WorkspaceView): unknown
  /** A call to be made at the same time. */
  readonly also?: { readonly tool: string; readonly input: unknown }
}

/** The words of one agent. */
export interface Dialect {
  readonly agent: string
  /** A request that offers one of these comes from it. */
  readonly marks: readonly string[]
  readonly words: { readonly [Name in keyof Acts]?: readonly Word<Acts[Name]>[] }
}

/** A name that agents accept for a task, made of a few words. */
export function slug(text: string, joint: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, joint)
    .slice(0, 60)
}

/** For agents that want to be told what a command is for. */
export const commandDescription = 'Scripted command'
