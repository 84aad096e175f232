import { absolutePath } from '../absolute-path.ts'
import { readOptions } from '../options.ts'
import { argOf, type ProgramCall, type Shell, type ShellState } from '../shell-state.ts'
import { patchFiles } from './editors.ts'
import {
  changeGitTree,
  chosen,
  matchesSpec,
  restorePaths,
  withoutEntries,
  worldWithMade,
} from './git-tree.ts'
import { untracked } from './tracked-files.ts'

/** Git changes the working tree at the given paths; the content of a commit, a stash or a merge cannot be read. */
export function git(invocation: ProgramCall): ShellState | undefined {
  const { words, state } = afterGlobalOptions(invocation)
  const [verb, ...args] = words
  if (verb === undefined) return
  const inside = { ...invocation, args, state, name: `git ${verb.value}` }
  runOwnHooks(inside)
  switch (verb.value) {
    case 'checkout':
    case 'restore':
    case 'switch':
    case 'reset':
    case 'checkout-index':
      return changeGitTree(inside)
    case 'read-tree':
      changeGitTree(inside)
      return withoutEntries(inside, invocation.state)
    case 'rm':
      remove(inside)
      return withoutEntries(inside, invocation.state)
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
    case 'diff-tree':
    case 'diff-index':
    case 'diff-files':
    case 'log':
    case 'show':
    case 'whatchanged':
    case 'reflog':
    case 'shortlog':
    case 'bundle':
      return outputs(inside)
    case 'config':
      return configureGit(inside)
    case 'rebase':
    case 'bisect':
    case 'filter-branch':
    case 'difftool':
    case 'grep':
      return runGivenCommands(inside)
    case 'submodule':
      runGivenCommands(inside)
      return makeDirectory(inside, 2)
    case 'clone':
    case 'worktree':
      return makeDirectory(inside, 1)
    case 'init':
      return makeDirectory(inside, 0)
    case 'merge-file':
    case 'interpret-trailers':
    case 'credential-store':
    case 'update-index':
      return writeNamed(inside)
    default:
      return
  }
}

/** Hooks that the command has written run with the next git command. */
function runOwnHooks({ state, shell }: ProgramCall): void {
  for (const [path, text] of state.made.files)
    if (/\/\.git\/hooks\/[\w-]+$/.test(path)) shell.script(text, state)
}

export function afterGlobalOptions({ args, state, shell }: ProgramCall) {
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
    const [, name = '', setting = ''] = value === '-c' ? (/^([^=]+)=(.*)$/s.exec(next) ?? []) : []
    runGitSetting(name, setting, state, shell)
  }
  return { words: args.slice(index), state: { ...state, cwd } }
}

function remove(invocation: ProgramCall): undefined {
  const { args, state, shell } = invocation
  const options = readOptions(args, 'pathspec-from-file')
  const { has, operands } = options
  if (has('cached n dry-run')) return
  for (const file of operands)
    shell.write(file, 'git rm removes it', state, {
      entry: true,
      ...(has('r') ? { look: absolutePath(file.value, state.cwd) } : {}),
    })
  const patterns = chosen(invocation, options).filter(({ value }) => /[*?[]/.test(value))
  return restorePaths(invocation, patterns, 'git rm removes it')
}

function move(invocation: ProgramCall): undefined {
  const { has, operands } = readOptions(invocation.args)
  if (has('n dry-run')) return
  invocation.shell.run([argOf('mv'), ...operands], invocation.state)
}

function clean(invocation: ProgramCall): undefined {
  const { args, state, shell } = invocation
  const { has, operands, values } = readOptions(args, 'e exclude')
  if (has('n dry-run') || !has('f force')) return
  const ignored = has('x X')
  const kept = values('e exclude').map(({ value }) => value)
  const only = untracked(worldWithMade(invocation), state.cwd, { ignored, kept })
  for (const target of operands.length === 0 ? [argOf('.')] : operands) {
    const isPattern = /[*?[]/.test(target.value)
    const look = isPattern ? (state.cwd ?? '/') : absolutePath(target.value, state.cwd)
    const isFile = shell.world.resolve(look).kind === 'file'
    const isMeant = (path: string): boolean =>
      only(path) && (!isPattern || matchesSpec(target.value, look, path))
    if (!isFile || only(look))
      shell.write({ value: look, text: target.text }, 'git clean removes it', state, {
        entry: true,
        ...(isFile ? {} : { look, only: isMeant }),
      })
  }
}

function stash(invocation: ProgramCall): undefined {
  const { args, state, shell } = invocation
  const verb = args[0]?.value ?? 'push'
  if (!/^(?:push|save|-.*)$/.test(verb)) return
  const options = readOptions(args, 'm message pathspec-from-file')
  const { has } = options
  const paths = chosen(invocation, options).slice(verb === 'push' || verb === 'save' ? 1 : 0)
  const takesAll = verb === 'save' || paths.length === 0
  if (!has('S') && !has('staged'))
    restorePaths(invocation, takesAll ? [argOf(':/')] : paths, 'git stash puts it away')
  if (has('a all'))
    shell.write(argOf('.'), 'git stash --all moves it away', state, {
      entry: true,
      look: state.cwd ?? '/',
      only: untracked(worldWithMade(invocation), state.cwd, { ignored: true, kept: [] }),
    })
}

function applyDiff(invocation: ProgramCall): undefined {
  const { args, state } = invocation
  const { has, operands, values } = readOptions(args, 'directory p exclude include C whitespace')
  if (has('check stat numstat summary cached')) return
  const [directory] = values('directory')
  const cwd = directory === undefined ? state.cwd : absolutePath(directory.value, state.cwd)
  const strip = Number(values('p')[0]?.value ?? 1)
  for (const file of operands.length === 0 ? [undefined] : operands)
    patchFiles(invocation, file?.value, cwd, strip)
}

function outputs({ args, state, shell, name }: ProgramCall): undefined {
  const options = readOptions(args, 'o output output-directory')
  for (const file of options.values('o output')) shell.write(file, `${name} writes it`, state)
  if (name === 'git bundle' && options.operands[0]?.value === 'create' && options.operands[1] !== undefined)
    shell.write(options.operands[1], 'git bundle writes it', state)
}

/** `git config`: a file it writes, and a setting that is a command. */
function configureGit({ args, state, shell }: ProgramCall): undefined {
  const [key, value] = readOptions(args, 'f file type t').operands.filter((each) => each.value !== 'set')
  if (key !== undefined && value !== undefined) runGitSetting(key.value, value.value, state, shell)
  for (const file of readOptions(args, 'f file').values('f file'))
    if (
      args.some(({ value }) =>
        /^(?:--(?:add|unset|unset-all|replace-all|edit)|set|unset|edit)$/.test(value),
      ) ||
      readOptions(args, 'f file type t').operands.length > 1
    )
      shell.write(file, 'git config writes it', state)
}

/** Some settings are commands. */
function runGitSetting(name: string, value: string, state: ShellState, shell: Shell): void {
  if (/^alias\./i.test(name) && value.startsWith('!')) shell.script(value.slice(1), state)
  else if (
    /editor|pager|command|fsmonitor|textconv|external|driver|helper|\.(?:clean|smudge|cmd)$/i.test(name)
  )
    shell.script(value.replace(/^!/, ''), state)
}

const commandOptions =
  'x exec extcmd tree-filter index-filter msg-filter env-filter parent-filter commit-filter'

/** Subcommands whose operands, or one option, are files they write. */
function writeNamed({ args, state, shell, name }: ProgramCall): undefined {
  const { has, operands, values } = readOptions(args, 'file trailer L cacheinfo chmod')
  const prints = name === 'git merge-file' ? has('p stdout') : false
  const edits = name === 'git interpret-trailers' ? has('in-place') : name !== 'git credential-store'
  const files = name === 'git merge-file' ? operands.slice(0, 1) : operands
  for (const file of prints || !edits ? [] : files) shell.write(file, `${name} changes it`, state)
  if (name === 'git credential-store')
    for (const file of values('file')) shell.write(file, `${name} writes it`, state)
}

/** A new directory, as the operand at `position` names it. */
function makeDirectory({ args, state, shell, name }: ProgramCall, position: number): undefined {
  const { operands, values } = readOptions(
    args,
    'b B o origin branch c config depth separate-git-dir template reference j jobs name initial-branch',
  )
  const target = operands[position]
  const adds = !/worktree|submodule/.test(name) || operands[0]?.value === 'add'
  for (const each of [...(target === undefined || !adds ? [] : [target]), ...values('separate-git-dir')])
    shell.write(each, `${name} makes it`, state)
  if (name === 'git clone' && target === undefined)
    shell.fill(argOf('.'), 'git clone makes a directory in it', state)
}

/** Subcommands that run commands they are given. */
function runGivenCommands({ args, state, shell, name }: ProgramCall): undefined {
  const commands = name === 'git grep' ? 'O open-files-in-pager' : commandOptions
  for (const { value } of readOptions(args, commands).values(commands)) shell.script(value, state)
  const at = args.findIndex(({ value }) => value === (name === 'git bisect' ? 'run' : 'foreach'))
  if (at === -1 || name === 'git rebase') return
  const command = args.slice(at + 1).filter(({ value }) => value !== '--recursive')
  if (name === 'git bisect') shell.run(command, state)
  else shell.script(command.map(({ value }) => value).join(' '), state)
}
