import { absolutePath } from '../absolute-path.ts'
import { type Arg, argOf, type Invocation, type ShellState } from '../interpreter.ts'
import { readOptions } from '../options.ts'
import { patchFiles } from './editors.ts'
import { untracked } from './untracked.ts'

/** Git changes the working tree by paths it is given; what a commit, a stash or a merge holds cannot be seen. */
export function git(invocation: Invocation): null {
  const { words, state } = afterGlobalOptions(invocation)
  const [verb, ...args] = words
  if (verb === undefined) return null
  const inside = { ...invocation, args, state, name: `git ${verb.value}` }
  switch (verb.value) {
    case 'checkout':
    case 'restore':
      return checkOut(inside)
    case 'rm':
      return remove(inside)
    case 'mv':
      return move(inside)
    case 'clean':
      return clean(inside)
    case 'stash':
      return stash(inside)
    case 'apply':
    case 'am':
      return applyDiff(inside)
    case 'archive':
    case 'format-patch':
    case 'diff':
    case 'log':
    case 'show':
    case 'bundle':
      return outputs(inside)
    case 'config':
      return configure(inside)
    case 'rebase':
    case 'bisect':
    case 'submodule':
    case 'filter-branch':
      return runs(inside)
    case 'update-index':
    case 'checkout-index':
      return each(inside, readOptions(args, ['prefix']).operands)
    default:
      return null
  }
}

function afterGlobalOptions({ args, state, shell }: Invocation): {
  readonly words: readonly Arg[]
  readonly state: ShellState
} {
  let cwd = state.cwd
  let index = 0
  for (; index < args.length; index += 1) {
    const value = args[index]?.value ?? ''
    if (!value.startsWith('-')) break
    const [, tree] = /^--work-tree=(.+)$/.exec(value) ?? []
    if (tree !== undefined) cwd = absolutePath(tree, cwd)
    if (!/^(?:-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env)$/.test(value)) continue
    index += 1
    const next = args[index]?.value ?? ''
    if (value === '-C' || value === '--work-tree') cwd = absolutePath(next, cwd)
    if (value === '-c') runSetting(next)
  }
  return { words: args.slice(index), state: { ...state, cwd } }

  /** Some settings are commands. */
  function runSetting(setting: string): void {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(setting) ?? []
    if (/^alias\./i.test(name) && value.startsWith('!')) shell.script(value.slice(1), state)
    else if (/editor|pager|command|fsmonitor|textconv|external|driver|\.(?:clean|smudge|cmd)$/i.test(name))
      shell.script(value, state)
  }
}

function checkOut(invocation: Invocation): null {
  const { args, state, shell, name } = invocation
  const { given, operands } = readOptions(args, ['s', 'source', 'b', 'B', 'orphan', 'pathspec-from-file'])
  if (name === 'git restore' && given.has('staged') && !given.has('worktree') && !given.has('W')) return null
  return each({ ...invocation, state, shell }, operands)
}

function each({ state, shell, name }: Invocation, operands: readonly Arg[]): null {
  for (const { value, text } of operands)
    shell.write(
      { value: value.replace(/^:(?:\/|\((?:top|literal|icase|glob)\))/, ''), text },
      `${name} replaces it`,
      state,
    )
  return null
}

function remove(invocation: Invocation): null {
  const { args, state, shell } = invocation
  const { given, operands } = readOptions(args, ['pathspec-from-file'])
  if (given.has('cached') || given.has('n') || given.has('dry-run')) return null
  for (const file of operands)
    shell.write(file, 'git rm removes it', state, {
      entry: true,
      ...(given.has('r') ? { look: absolutePath(file.value, state.cwd) } : {}),
    })
  return null
}

function move(invocation: Invocation): null {
  const { given, operands } = readOptions(invocation.args)
  if (given.has('n') || given.has('dry-run')) return null
  invocation.shell.run([argOf('mv'), ...operands], invocation.state)
  return null
}

function clean(invocation: Invocation): null {
  const { args, state, shell } = invocation
  const { given, operands, values } = readOptions(args, ['e', 'exclude'])
  if (given.has('n') || given.has('dry-run') || !(given.has('f') || given.has('force'))) return null
  const ignored = given.has('x') || given.has('X')
  for (const target of operands.length === 0 ? [argOf('.')] : operands) {
    const look = absolutePath(target.value, state.cwd)
    const kept = values('e', 'exclude').map(({ value }) => value)
    shell.write(target, 'git clean removes it', state, {
      entry: true,
      look,
      only: untracked(shell.world, state.cwd, { ignored, kept }),
    })
  }
  return null
}

function stash(invocation: Invocation): null {
  const { args, state, shell } = invocation
  const verb = args[0]?.value ?? 'push'
  if (!/^(?:push|save|-.*)$/.test(verb)) return null
  const { given, operands } = readOptions(args, ['m', 'message'])
  if (verb !== 'save') each(invocation, operands.slice(verb === 'push' ? 1 : 0))
  if (given.has('a') || given.has('all'))
    shell.write(argOf('.'), 'git stash --all moves it away', state, {
      entry: true,
      look: state.cwd ?? '/',
      only: untracked(shell.world, state.cwd, { ignored: true, kept: [] }),
    })
  return null
}

function applyDiff(invocation: Invocation): null {
  const { args, state } = invocation
  const { given, operands, values } = readOptions(args, [
    'directory',
    'p',
    'exclude',
    'include',
    'C',
    'whitespace',
  ])
  if (['check', 'stat', 'numstat', 'summary', 'cached'].some((name) => given.has(name))) return null
  const [directory] = values('directory')
  const cwd = directory === undefined ? state.cwd : absolutePath(directory.value, state.cwd)
  const strip = Number(values('p')[0]?.value ?? 1)
  for (const file of operands.length === 0 ? [undefined] : operands)
    patchFiles(invocation, file?.value, cwd, strip)
  return null
}

function outputs({ args, state, shell, name }: Invocation): null {
  const options = readOptions(args, ['o', 'output', 'output-directory'])
  for (const file of options.values('o', 'output')) shell.write(file, `${name} writes it`, state)
  if (name === 'git bundle' && options.operands[0]?.value === 'create' && options.operands[1] !== undefined)
    shell.write(options.operands[1], 'git bundle writes it', state)
  return null
}

function configure({ args, state, shell }: Invocation): null {
  for (const file of readOptions(args, ['f', 'file']).values('f', 'file'))
    if (
      args.some(({ value }) =>
        /^(?:--(?:add|unset|unset-all|replace-all|edit)|set|unset|edit)$/.test(value),
      ) ||
      readOptions(args, ['f', 'file', 'type', 't']).operands.length > 1
    )
      shell.write(file, 'git config writes it', state)
  return null
}

/** Subcommands that run commands they are given. */
function runs({ args, state, shell, name }: Invocation): null {
  const options = readOptions(args, ['x', 'exec', 'tree-filter', 'index-filter', 'msg-filter', 'env-filter'])
  for (const { value } of options.values(
    'x',
    'exec',
    'tree-filter',
    'index-filter',
    'msg-filter',
    'env-filter',
  ))
    shell.script(value, state)
  const at = args.findIndex(({ value }) => value === (name === 'git bisect' ? 'run' : 'foreach'))
  if (at === -1 || name === 'git rebase') return null
  const command = args.slice(at + 1).filter(({ value }) => value !== '--recursive')
  if (name === 'git bisect') shell.run(command, state)
  else shell.script(command.map(({ value }) => value).join(' '), state)
  return null
}
