import { absolutePath, textAt } from '../absolute-path.ts'
import { readOptions } from '../options.ts'
import { patchedPaths } from '../patched-paths.ts'
import { type Arg, argOf, type Program, type ProgramCall } from '../shell-state.ts'

/** Programs that change files by a script of their own. */
export const editors: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['sed', sed],
  ['gsed', sed],
  ['ed', lineEditor],
  ['red', lineEditor],
  ['ex', lineEditor],
  ['vi', lineEditor],
  ['vim', lineEditor],
  ['nvim', lineEditor],
  ['vimdiff', lineEditor],
  ['gvim', lineEditor],
  ['patch', patch],
  ['gpatch', patch],
  ['apply_patch', applyPatch],
  ['applypatch', applyPatch],
  ['sqlite3', sqlite],
  ['sqlite', sqlite],
])

function sed({ args, state, shell }: ProgramCall): undefined {
  const isInPlace = /^(?:-[nErsuz]*i|--in?(?:-|-p\w*|-place)?(?:=|$))/
  const inPlace = args.some(({ value }) => isInPlace.test(value))
  const attached = args.filter(({ value }) => !isInPlace.test(value))
  const { operands, values } = readOptions(attached, 'e expression f file l line-length')
  const scripts = values('e expression')
  const given = scripts.length > 0 || values('f file').length > 0
  // BSD's `-i ''` leaves an empty word before the script.
  const rest = operands[0]?.value === '' ? operands.slice(1) : operands
  const program = given ? scripts : rest.slice(0, 1)
  if (inPlace) for (const file of given ? rest : rest.slice(1)) shell.write(file, 'sed -i', state)
  const made = values('f file').map(({ value }) => argOf(textAt(value, state) ?? ''))
  for (const { value } of [...program, ...made]) {
    for (const [, file, close] of value.matchAll(
      /(?:^|[\s;{}\d$]|[/|#,@!][gpiIMm\d]*)[wW](?:[ \t]+([^\n;}]+)|([./~][^\n;}]*))/g,
    ))
      shell.write(argOf((file ?? close ?? '').trim()), "sed's w command writes it", state)
    const [, line] = /(?:^|[;{}\d$/])\s*e\s+(.+)/.exec(value) ?? []
    if (line !== undefined) shell.script(line, state)
    if (/[/|#,@!][gpiIMm\d]*e[gpiIMm\d]*\s*(?:$|[;}\n])/.test(value)) {
      shell.opaque(value, 'sed runs what it makes as a command')
      const [, , made = ''] = /s([/|#,@!])(?:(?!\1).)*\1((?:(?!\1).)*)\1/.exec(value) ?? []
      shell.script(made, state)
    }
  }
}

function lineEditor(invocation: ProgramCall): undefined {
  const { args, state, shell, name } = invocation
  const scripts: Arg[] = []
  const rest: Arg[] = []
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index]
    if (arg === undefined) break
    if (/^(?:-[a-zA-Z]*c|--cmd)$/.test(arg.value) && name !== 'ed') {
      index += 1
      scripts.push(args[index] ?? argOf(''))
    } else if (arg.value === '-S' && name !== 'ed') {
      index += 1
      scripts.push(argOf(state.made.files.get(absolutePath(args[index]?.value ?? '', state.cwd)) ?? ''))
    } else if (arg.value.startsWith('+')) scripts.push(argOf(arg.value.slice(1)))
    else rest.push(arg)
  }
  const { has, operands } = readOptions(rest, 'S u i T W p t')
  const reading = has('R M')
  const commands = [...scripts.map(({ value }) => value), state.stdin ?? ''].join('\n')
  if (!reading) for (const file of operands) shell.write(file, `${name} edits it`, state)
  for (const [, file] of commands.matchAll(
    /(?:^|[\n|:%,$\d])[ \t]*(?:w|wq|write|saveas|sav|up|x|e|edit|split|sp|vs|tabe|tabnew)!?\s+(?:>>\s*)?([^\s|!]+)/g,
  ))
    shell.write(argOf(file ?? ''), `${name} writes it`, state)
  for (const [, command] of commands.matchAll(
    /(?:^|[\n|:%])[ \t]*(?:(?:r|w|silent|sil|exe(?:cute)?[ \t]*["'])[ \t]*)?!+\s*([^\n]+)/g,
  ))
    shell.script((command ?? '').replace(/["']$/, ''), state)
  for (const [, file] of commands.matchAll(
    /(?:writefile\s*\(.*?,|delete\s*\(|rename\s*\(.*?,)\s*['"]([^'"]+)['"]/g,
  ))
    shell.write(argOf(file ?? ''), `${name} changes it`, state)
}

function patch(invocation: ProgramCall): undefined {
  const { args, state, shell } = invocation
  const { operands, values, has } = readOptions(
    args,
    'i input o output d directory p strip r reject-file B D F V z Y',
  )
  if (has('dry-run')) return
  const [directory] = values('d directory')
  const inside = directory === undefined ? state : { ...state, cwd: absolutePath(directory.value, state.cwd) }
  const output = values('o output')
  const [target] = operands
  for (const file of output) shell.write(file, 'patch writes it', inside)
  if (output.length > 0) return
  if (target !== undefined) {
    shell.write(target, 'patch changes it', inside)
    return
  }
  shell.fill(argOf(directory?.value ?? '.'), 'patch changes files in it', state)
  const input = values('i input')[0] ?? operands[1]
  patchFiles(invocation, input?.value, inside.cwd, Number(values('p strip')[0]?.value ?? 0))
}

/** The files that a diff names, from a file or from standard input. */
export function patchFiles(
  { state, shell, name }: ProgramCall,
  file: string | undefined,
  cwd: string | null,
  strip: number,
): void {
  const path = file === undefined || file === '-' ? null : absolutePath(file, state.cwd)
  const text =
    path === null ? state.stdin : (state.made.files.get(path) ?? shell.world.readText(path, maxPatch))
  if (text === null) shell.opaque('', `what ${name} changes is in a patch that cannot be read`)
  for (const each of patchedPaths(text ?? '', strip))
    shell.write(argOf(each), `${name} changes it by a patch`, { ...state, cwd })
}

const maxPatch = 262_144

function applyPatch({ args, state, shell }: ProgramCall): undefined {
  for (const text of [...args.map(({ value }) => value), state.stdin ?? ''])
    for (const path of patchedPaths(text, 0)) shell.write(argOf(path), 'the patch changes it', state)
}

function sqlite({ args, state, shell, name }: ProgramCall): undefined {
  const bare = args.filter(
    ({ value }) =>
      !/^--?(?:batch|bail|csv|json|line|list|column|header|noheader|html|echo|table|box|markdown)$/.test(
        value,
      ),
  )
  const { has, operands } = readOptions(bare, '-cmd -init -separator -newline -nullvalue')
  const [file, ...statements] = operands
  const commands = [
    ...statements.map(({ value }) => value),
    ...args.map(({ value }) => value),
    state.stdin ?? '',
  ].join('\n')
  for (const [, target] of commands.matchAll(
    /(?:^|\n)[ \t]*\.(?:output|once|backup|save|clone|log|open|dump\s*>)\s+(?:--?\w+\s+)*(?:main\s+)?['"]?([^\s'"]+)/g,
  ))
    shell.write(argOf(target ?? ''), `${name} writes it`, state)
  for (const [, target] of commands.matchAll(
    /(?:writefile\s*\(\s*|(?:vacuum\s+into|attach(?:\s+database)?)\s+)'([^']+)'/gi,
  ))
    shell.write(argOf(target ?? ''), `${name} writes it`, state)
  for (const [, command] of commands.matchAll(/(?:^|\n)[ \t]*\.(?:shell|system)\s+([^\n]+)/g))
    shell.script(command ?? '', state)
  const reading =
    has('readonly') ||
    (/^\s*(?:select|\.schema|\.tables|explain)\b/i.test(commands) &&
      !/\b(?:insert|update|delete|drop|create|alter|replace|vacuum)\b/i.test(commands))
  if (file !== undefined && !reading) shell.write(file, `${name} opens it for writing`, state)
}
