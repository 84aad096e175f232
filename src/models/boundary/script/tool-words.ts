import type { ScriptCall } from './call-schema.ts'
import type { Acts, Dialect, Word } from './dialects/contract.ts'
import { dialects } from './dialects/index.ts'
import { editByShell, readByShell, writeByShell } from './shell-words.ts'
import type { WorkspaceView } from './workspace-view.ts'

/** What it takes, in the words of the agent that offers the tools: nearly always the use of one tool. */
export type Spoken =
  | { readonly kind: 'uses'; readonly uses: readonly ToolUse[] }
  | { readonly kind: 'speechless'; readonly problem: string }

export interface ToolUse {
  readonly name: string
  readonly input: unknown
  readonly id?: string
}

/** Puts a call of a script into the words of whoever offers these tools: its own tool for it, else its shell. */
export function speak(call: ScriptCall, offered: readonly string[], view: WorkspaceView): Spoken {
  if (call.tool !== undefined) {
    const { name, input, id } = call.tool
    return { kind: 'uses', uses: [{ name, input, ...(id !== undefined && { id }) }] }
  }
  const dialect = dialectOf(offered)
  const say = <Name extends keyof Acts>(name: Name, act: Acts[Name]): Spoken | null =>
    dialect === undefined ? null : firstUse<Acts[Name]>(dialect.words[name] ?? [], act, offered, view)
  const byShell = (command: string): Spoken | null => say('run', { command })
  const lacks = (what: string): Spoken => speechless(what, dialect, offered)
  const { run, write, edit, read, subagent } = call
  if (run !== undefined) return byShell(run) ?? lacks('run a command')
  if (write !== undefined)
    return say('write', write) ?? byShell(writeByShell(write.path, write.content)) ?? lacks('write a file')
  if (edit !== undefined)
    return say('edit', edit) ?? byShell(editByShell(edit.path, edit.old, edit.new)) ?? lacks('edit a file')
  if (read !== undefined) return say('read', read) ?? byShell(readByShell(read.path)) ?? lacks('read a file')
  if (subagent !== undefined) return say('subagent', subagent) ?? lacks('start a subagent')
  return lacks('do nothing')
}

/** How whoever offers these tools hands in its last word; empty where it is enough to say it. */
export function speakLast(text: string, offered: readonly string[], view: WorkspaceView): readonly ToolUse[] {
  const spoken = firstUse(dialectOf(offered)?.words.finish ?? [], { text }, offered, view)
  return spoken?.kind === 'uses' ? spoken.uses : []
}

function dialectOf(offered: readonly string[]): Dialect | undefined {
  return dialects.find(({ marks }) => marks.some((mark) => offered.includes(mark)))
}

function firstUse<Act>(
  words: readonly Word<Act>[],
  act: Act,
  offered: readonly string[],
  view: WorkspaceView,
): Spoken | null {
  for (const { tool, comesWith = tool, input: inputOf, also } of words) {
    const input = offered.includes(comesWith) ? inputOf(act, view) : null
    if (input === null) continue
    const more = also === undefined ? [] : [{ name: also.tool, input: also.input }]
    return { kind: 'uses', uses: [{ name: tool, input }, ...more] }
  }
  return null
}

function speechless(what: string, dialect: Dialect | undefined, offered: readonly string[]): Spoken {
  const tools = offered.length === 0 ? 'no tools' : `only ${offered.join(', ')}`
  const who = dialect === undefined ? 'an agent the script has no words for' : dialect.agent
  return {
    kind: 'speechless',
    problem: `the script wants to ${what}, but the request of ${who} offers ${tools}`,
  }
}
