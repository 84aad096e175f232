import { posix } from 'node:path'
import { type Command, type ParsedScript, parse } from 'unbash'
import { type SimpleCommand, simpleCommand } from '../../shell/simple-command.ts'
import { unrollLoops } from '../../shell/unroll-loops.ts'
import { type InnerScript, type PlainCommand, unwrapPlain } from '../../shell/unwrap-command.ts'
import { type CoveragePlace, readChecks } from './coverage/read-check.ts'
import { scriptFileText, taskScript } from './coverage/task-script.ts'
import { steeringOf } from './match-command.ts'

/** What the command runs: the text of a shell, the commands of a task, or those of a strict script of the project. */
export function innerScript(
  outer: SimpleCommand,
  plain: PlainCommand,
  place: CoveragePlace,
): InnerScript | null {
  if (plain.limited || steeringOf(plain.command, place) !== null || plain.command.fed) return null
  if (plain.script !== null) return { ...plain.script, source: unrollLoops(plain.script.source) }
  const tasks = readChecks(outer.words, place).map((check) => taskScript(check, place))
  if (tasks.length > 0 && !tasks.includes(null))
    return { source: unrollLoops(tasks.join(' && ')), pipefail: false }
  const source = strictScript(plain.command.words, place)
  return source === null ? null : { source: unrollLoops(source), pipefail: false }
}

/** The text of a script of the project that is started without arguments and stops at the first failure. */
export function strictScript(
  [program = '', ...args]: readonly string[],
  place: CoveragePlace,
): string | null {
  const file = /^(?:\/bin\/)?(?:ba)?sh$/.test(program) ? args[0] : program.includes('/') ? program : undefined
  const isAlone = file === program ? args.length === 0 : args.length === 1
  if (file === undefined || !isAlone || !/^(?:\.\/)?[\w/-]+(?:\.sh)?$/.test(file)) return null
  const text = place.read(file.replace(/^\.\//, ''))
  const isShell = text !== null && (file !== program || /^#!.*\b(?:ba|da|z|k)?sh\b/.test(text))
  return isShell ? scriptFileText(inItsPlace(text, file)) : null
}

/** The text of a script that is called without arguments, with its own directory in place of the commands that look for it. */
function inItsPlace(text: string, file: string): string {
  const found = text
    .replaceAll(/(?<![ \t])[ \t]+(?:"\$[@*]"|\$[@*]|"\$\{@\}")(?=\s|$)/g, '')
    .replaceAll(ownDirectory, `${posix.dirname(file)}$1`)
    .replaceAll(absolutePath, '$1')
  const [line, name, value = ''] = /^(?:readonly )?(\w+)=([\w./-]+)\n/m.exec(found) ?? []
  if (line === undefined) return found
  const moved = found.replaceAll(
    new RegExp(String.raw`^cd "?\$\{?${name}\}?([\w./-]*)"?$`, 'gm'),
    `cd ${value}$1`,
  )
  return moved.includes(`$${name}`) || moved.includes(`{${name}}`) ? moved : moved.replace(line, '')
}

const ownDirectory = /"?\$\(dirname (?:-- )?"?\$(?:0|\{?BASH_SOURCE(?:\[0\])?\}?)"?\)([\w./-]*)"?/g
const absolutePath = /"?\$\(cd (?:-P )?(?:-- )?([\w./-]+)(?: *> *\/dev\/null(?: 2>&1)?)? && pwd(?: -P)?\)"?/g

/** The same, parsed; null also when it cannot be read. */
export function parsedInside(command: Command, place: CoveragePlace): ParsedScript | null {
  const outer = simpleCommand(command)
  const inner = innerScript(outer, unwrapPlain(outer), place)
  const parsed = inner === null ? null : parse(inner.source)
  return parsed === null || hasErrors(parsed) ? null : parsed
}

export function hasErrors({ errors }: ParsedScript): boolean {
  return errors !== undefined && errors.length > 0
}
