import type { Command, Statement, SyntaxNode } from 'unbash'
import { simpleCommand } from '../../../shell/simple-command.ts'

/** The lines by which a call shows how a command in it ended. */
export interface ShownStatus {
  readonly success: RegExp
  readonly failure: RegExp
}

/**
 * The commands whose end the call prints: `run; echo "exit: $?"`, `run | tail; echo ${PIPESTATUS[0]}`, `run; rc=$?; …; echo $rc`,
 * `run && echo yes || echo no`, `if run; then echo yes; else echo no; tail x.log; fi`.
 */
export function shownStatuses(statements: readonly Statement[]): ReadonlyMap<Command, ShownStatus> {
  const found = new Map<Command, ShownStatus>()
  const add = (nodes: readonly (SyntaxNode | undefined)[], status: ShownStatus | null): void => {
    for (const node of nodes) if (node?.type === 'Command' && status !== null) found.set(node, status)
  }
  for (const [index, { command, background }] of statements.entries()) {
    if (background) continue
    // A loop that was written out.
    if (command.type === 'BraceGroup')
      for (const each of shownStatuses(command.body.commands)) found.set(...each)
    const after = statements.slice(index + 1).map((each) => each.command)
    const chain = command.type === 'AndOr' ? command.commands : [command]
    const or = command.type === 'AndOr' ? command.operators.indexOf('||') : -1
    const [head] = command.type === 'Pipeline' && command.prefixes.length === 0 ? command.commands : []
    if (or === -1) add(head === undefined ? chain : [head], printedStatus(after, head === undefined))
    else if (or === chain.length - 2 && or > 0) add(chain.slice(0, or), eitherLine(chain.slice(or)))
    if (command.type !== 'If' || command.elif.length > 0) continue
    const lists = [command.clause, command.then, command.else].map((list) => list?.commands ?? [])
    const [[test, ...more] = [], [yes] = [], [no] = []] = lists
    if (more.length === 0) add([test?.command], eitherLine([yes?.command, no?.command]))
  }
  return found
}

/** Whether the output says that it succeeded, and nowhere that it failed. */
export function showsSuccess(output: string, { success, failure }: ShownStatus): boolean {
  const lines = output.split('\n').map((line) => line.trim())
  return lines.some((line) => success.test(line)) && !lines.some((line) => failure.test(line))
}

/** `echo "exit: $?"` right after the command, or of a variable that got the status there. */
function printedStatus([next, ...later]: readonly SyntaxNode[], isPlain: boolean): ShownStatus | null {
  const status = isPlain ? '?' : '{PIPESTATUS[0]}'
  const kept = next?.type === 'Command' ? simpleCommand(next) : null
  const [name, value] = kept?.words.length === 0 ? (kept.assignments[0]?.text.split('=') ?? []) : []
  const isKept = name !== undefined && value?.replaceAll('"', '') === `$${status}`
  const names = isKept ? [name, `{${name}}`] : [status]
  for (const node of isKept ? later : [next]) {
    const text = echoed(node)
    const mark = names.flatMap((each) => [`\0$${each}`, `\0"$${each}`]).find((each) => text?.includes(each))
    const [before, behind, ...more] = mark === undefined ? [] : (text?.split(mark) ?? [])
    if (before === undefined || behind === undefined || more.length > 0 || /\0/.test(before + behind))
      continue
    return { success: whole(before, '0', behind), failure: whole(before, '[1-9]\\d*', behind) }
  }
  return null
}

function eitherLine(nodes: readonly (SyntaxNode | undefined)[]): ShownStatus | null {
  const [yes = '', no = ''] = nodes.map((node) => echoed(node)?.trim())
  if (yes === no || yes === '' || no === '' || /\0/.test(yes + no)) return null
  return { success: whole(yes), failure: whole(no) }
}

/** What a plain `echo` prints. */
function echoed(node: SyntaxNode | undefined): string | null {
  if (node?.type === 'Subshell' || node?.type === 'BraceGroup') return echoed(node.body.commands[0]?.command)
  if (node?.type !== 'Command' || node.redirects.length > 0) return null
  const [name, ...args] = simpleCommand(node).words
  return name === 'echo' && !/^-/.test(args[0] ?? '') ? args.join(' ') : null
}

function whole(before: string, code = '', behind = ''): RegExp {
  return new RegExp(`^${RegExp.escape(before.trimStart())}${code}${RegExp.escape(behind.trimEnd())}$`)
}
