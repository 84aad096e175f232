import { readOptions } from '../options.ts'
import { argOf, type ProgramCall, type Shell, type ShellState } from '../shell-state.ts'

/** `git config`: a file it writes, and a setting that is a command. */
export function configureGit({ args, state, shell }: ProgramCall): undefined {
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
export function runGitSetting(name: string, value: string, state: ShellState, shell: Shell): void {
  if (/^alias\./i.test(name) && value.startsWith('!')) shell.script(value.slice(1), state)
  else if (
    /editor|pager|command|fsmonitor|textconv|external|driver|helper|\.(?:clean|smudge|cmd)$/i.test(name)
  )
    shell.script(value.replace(/^!/, ''), state)
}

const commandOptions =
  'x exec extcmd tree-filter index-filter msg-filter env-filter parent-filter commit-filter'

/** Subcommands whose operands, or one option, are files they write. */
export function writeNamed({ args, state, shell, name }: ProgramCall): undefined {
  const { has, operands, values } = readOptions(args, 'file trailer L cacheinfo chmod')
  const prints = name === 'git merge-file' ? has('p stdout') : false
  const edits = name === 'git interpret-trailers' ? has('in-place') : name !== 'git credential-store'
  const files = name === 'git merge-file' ? operands.slice(0, 1) : operands
  for (const file of prints || !edits ? [] : files) shell.write(file, `${name} changes it`, state)
  if (name === 'git credential-store')
    for (const file of values('file')) shell.write(file, `${name} writes it`, state)
}

/** A new directory, as the operand at `position` names it. */
export function makeDirectory({ args, state, shell, name }: ProgramCall, position: number): undefined {
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
export function runGivenCommands({ args, state, shell, name }: ProgramCall): undefined {
  const commands = name === 'git grep' ? 'O open-files-in-pager' : commandOptions
  for (const { value } of readOptions(args, commands).values(commands)) shell.script(value, state)
  const at = args.findIndex(({ value }) => value === (name === 'git bisect' ? 'run' : 'foreach'))
  if (at === -1 || name === 'git rebase') return
  const command = args.slice(at + 1).filter(({ value }) => value !== '--recursive')
  if (name === 'git bisect') shell.run(command, state)
  else shell.script(command.map(({ value }) => value).join(' '), state)
}
