import type { HereDoc, HereString, ProcessSubstitutionPart, Redirect, Redirection } from 'unbash'
import { absolutePath, descriptorOf } from './absolute-path.ts'
import { expandParts } from './expand-word.ts'
import type { CommandOutcome, Cursor, Shell, ShellState } from './shell-state.ts'
import { withFile } from './state.ts'
import { isKnown } from './unknown-part.ts'

/** Where the output of a command goes instead of on. */
export type Opened = ReturnType<typeof openRedirects>

/** Opens the files of a command's redirections: records what is written, and gives the command what it would read. */
export function openRedirects(redirects: readonly Redirection[], at: Cursor, shell: Shell) {
  const files: { path: string; append: boolean }[] = []
  const processes: ProcessSubstitutionPart[] = []
  const writes: (() => void)[] = []
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') {
      const { parts, text } = redirect.body
      const body =
        parts === undefined || redirect.delimiter?.quoted === true ? text : expandParts(parts, at, shell)
      take(redirect, redirect.operator === '<<-' ? body.replaceAll(/^\t+/gm, '') : body)
    } else if (redirect.type === 'HereString') {
      const text = redirect.target === undefined ? '' : shell.expandWhole(redirect.target, at)
      take(redirect, `${text}\n`)
    } else openFile(redirect)
  }
  // A path such as /dev/fd/3 may mean a descriptor that is opened further on.
  for (const write of writes) write()
  return { files, processes }

  function take({ descriptor }: HereDoc | HereString, text: string): void {
    const number = descriptorName(descriptor) ?? '0'
    at.state = number === '0' ? { ...at.state, stdin: text } : withFile(at.state, `/dev/fd/${number}`, text)
  }

  function openFile(redirect: Redirect): void {
    const { operator, target, descriptor } = redirect
    if (target === undefined) return
    const [only] = target.parts ?? []
    const reads = operator === '<' || operator === '<&'
    if (only?.type === 'ProcessSubstitution' && only.operator === '>' && !reads) {
      processes.push(only)
      return
    }
    const number = descriptorName(descriptor)
    for (const arg of shell.expand(target, at)) {
      if ((operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(arg.value)) {
        copyDescriptor(arg.value.replace(/-$/, ''), number ?? (operator === '<&' ? '0' : '1'))
        continue
      }
      const path = absolutePath(arg.value, at.state.cwd)
      const own = number ?? (reads || operator === '<>' ? '0' : '1')
      const behind = descriptorOf(path)
      const file = behind === null ? path : (at.state.descriptors.get(behind) ?? path)
      at.state = { ...at.state, descriptors: new Map(at.state.descriptors).set(own, file) }
      if (reads) {
        shell.given(arg.value, '<')
        if (own === '0' && behind !== '0') at.state = { ...at.state, stdin: contentOf(path, at.state) }
        continue
      }
      writes.push(() =>
        shell.write(arg, operator.includes('>>') ? 'appends to it' : 'redirects to it', at.state),
      )
      if (own === '1' && operator !== '<>') files.push({ path, append: operator.endsWith('>>') })
    }
  }

  function copyDescriptor(from: string, to: string): void {
    const file = at.state.descriptors.get(from)
    if (file !== undefined)
      at.state = { ...at.state, descriptors: new Map(at.state.descriptors).set(to, file) }
  }
}

function descriptorName(descriptor: Redirect['descriptor']): string | null {
  if (descriptor === undefined) return null
  return descriptor.type === 'FileDescriptor' ? String(descriptor.value) : descriptor.name
}

function contentOf(path: string, state: ShellState): string | null {
  if (path === '/dev/null') return ''
  return state.made.files.get(path) ?? null
}

/** Writes the output to its target. */
export function closeRedirects(opened: Opened, outcome: CommandOutcome, shell: Shell): CommandOutcome {
  if (opened.files.length === 0 && opened.processes.length === 0) return outcome
  let { state } = outcome
  for (const { path, append } of opened.files) {
    if (!isKnown(path) || /^\/dev\/(?!shm\/)/.test(path)) continue
    const before = append ? (state.made.files.get(path) ?? '') : ''
    state = withFile(state, path, outcome.out === null ? null : before + outcome.out)
    // A new git hook runs later.
    if (outcome.out !== null && /\/(?:\.git\/hooks|\.husky)\/[\w-]+$/.test(path))
      shell.script(outcome.out, state)
  }
  for (const { script } of opened.processes)
    if (script !== undefined) shell.body(script, { ...state, stdin: outcome.out })
  return { ...outcome, state, out: '' }
}
