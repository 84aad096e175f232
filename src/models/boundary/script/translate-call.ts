import { quoteForSh } from '../../../io/pty.ts'
import type { ScriptCall } from './call-schema.ts'
import { type AgentActions, type Dialect, dialects, type Word } from './dialects.ts'
import type { WorkspaceView } from './workspace-view.ts'

/** The calls of the agent's tools that perform the script's action: nearly always one. */
export type TranslatedCall =
  | { readonly kind: 'uses'; readonly uses: readonly AgentToolCall[] }
  | { readonly kind: 'unsupported'; readonly problem: string }

export interface AgentToolCall {
  readonly name: string
  readonly input: unknown
  readonly id?: string
}

/** Translates a scripted call to a tool that the agent offers: a specific tool, else its shell. */
export function translateCall(
  call: ScriptCall,
  offered: readonly string[],
  view: WorkspaceView,
): TranslatedCall {
  if (call.tool !== undefined) {
    const { name, input, id } = call.tool
    return { kind: 'uses', uses: [{ name, input, ...(id !== undefined && { id }) }] }
  }
  const dialect = dialectOf(offered)
  const say = <Name extends keyof AgentActions>(
    name: Name,
    act: AgentActions[Name],
  ): TranslatedCall | null =>
    dialect === undefined ? null : firstUse<Name>(dialect.words[name] ?? [], act, offered, view)
  const byShell = (command: string): TranslatedCall | null => say('run', { command })
  const lacks = (what: string): TranslatedCall => unsupported(what, dialect, offered)
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

/** The calls with which the agent submits its final text; empty when plain text is enough. */
export function finishCalls(
  text: string,
  offered: readonly string[],
  view: WorkspaceView,
): readonly AgentToolCall[] {
  const spoken = firstUse(dialectOf(offered)?.words.finish ?? [], { text }, offered, view)
  return spoken?.kind === 'uses' ? spoken.uses : []
}

function dialectOf(offered: readonly string[]): Dialect | undefined {
  return dialects.find(({ marks }) => marks.some((mark) => offered.includes(mark)))
}

function firstUse<Name extends keyof AgentActions>(
  words: readonly Word<Name>[],
  act: AgentActions[Name],
  offered: readonly string[],
  view: WorkspaceView,
): TranslatedCall | null {
  for (const { tool, comesWith = tool, input: inputOf, also } of words) {
    const input = offered.includes(comesWith) ? inputOf(act, view) : null
    if (input === null) continue
    const more = also === undefined ? [] : [{ name: also.tool, input: also.input }]
    return { kind: 'uses', uses: [{ name: tool, input }, ...more] }
  }
  return null
}

function unsupported(what: string, dialect: Dialect | undefined, offered: readonly string[]): TranslatedCall {
  const tools = offered.length === 0 ? 'no tools' : `only ${offered.join(', ')}`
  const who = dialect === undefined ? 'an unknown agent' : dialect.agent
  return {
    kind: 'unsupported',
    problem: `the script wants to ${what}, but the request of ${who} offers ${tools}`,
  }
}

/** File actions as shell commands, for agents that have a shell and no specific tool. They need only POSIX sh and base64. */

export function readByShell(path: string): string {
  return `cat -- ${quoteForSh(path)}`
}

export function writeByShell(path: string, content: string): string {
  const target = quoteForSh(path)
  return `mkdir -p -- "$(dirname -- ${target})" && printf %s ${quoteForSh(encode(content))} | base64 -d > ${target}`
}

/** Like the tools of agents it refuses to choose between several places. The `x` preserves line breaks at the end. */
export function editByShell(path: string, old: string, replacement: string): string {
  const target = quoteForSh(path)
  return `text=$(cat -- ${target} && printf x) || exit 1
text=\${text%x}
old=$(printf %s ${quoteForSh(encode(`${old}x`))} | base64 -d)
old=\${old%x}
new=$(printf %s ${quoteForSh(encode(`${replacement}x`))} | base64 -d)
new=\${new%x}
rest=\${text#*"$old"}
case $text in *"$old"*) ;; *) echo 'the text was not found' >&2; exit 1 ;; esac
case $rest in *"$old"*) echo 'the text occurs more than once' >&2; exit 1 ;; esac
printf %s "\${text%%"$old"*}$new$rest" > ${target}`
}

/** Survives a terminal, a heredoc and every layer of quotes. */
function encode(text: string): string {
  return Buffer.from(text).toString('base64')
}
