import { type Command, parse, type Redirection } from 'unbash'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { literalWord, type ShellUnit, shellUnit } from './shell-unit.ts'
import { shellCall, unwrapUnit } from './unwrap-unit.ts'
import { commandsIn } from './walk-shell.ts'

/**
 * Could this command put files aside while another one of the same call runs, and back again afterwards? Then the tree before
 * and after the call says nothing about the tree of the run. Commands that verify, build or install are taken for what they are.
 */
export function mayChangeFiles(command: Command): boolean {
  if (command.redirects.some(writes)) return true
  const { unit } = unwrapUnit(shellUnit(command))
  const nested = shellCall(unit)
  if (nested !== null) {
    const script = parse(nested.script)
    return script.errors !== undefined || commandsIn(script).some(mayChangeFiles)
  }
  return !isQuiet(unit) && !isTooling(unit.words.join(' '))
}

function writes(redirection: Redirection): boolean {
  if (redirection.type !== 'Redirect' || redirection.operator === '<') return false
  const target = redirection.target === undefined ? null : literalWord(redirection.target)
  return target === null || !isOutside(target)
}

function isOutside(target: string): boolean {
  return /^(?:\d+|-|\/dev\/(?:null|stdout|stderr|tty)|\/(?:var\/)?tmp\/(?!.*\.\.).+)$/.test(target)
}

function isQuiet({ words: [name = '', ...args] }: ShellUnit): boolean {
  const has = (pattern: RegExp): boolean => args.some((arg) => pattern.test(arg))
  switch (name) {
    case 'git':
      return /^(?:add|status|diff|log|show|rev-parse|branch|commit|ls-files|describe|remote)$/.test(
        args[0] ?? '',
      )
    case 'find':
      return !has(/^-(?:delete|exec|execdir|ok|okdir|fprint\w*|fls)$/)
    case 'sort':
      return !has(/^(?:-[a-zA-Z]*o|--output)/)
    case 'sed':
      return args.every((arg) => /^(?:-n|\d+(?:,(?:\d+|\$))?p)$/.test(arg))
    case 'tee':
      return args.every((arg) => arg === '-a' || isOutside(arg))
    case 'uniq':
      return args.every((arg) => arg.startsWith('-'))
    default:
      return quiet.has(name) || (args.length === 1 && has(/^(?:--version|-v|-V)$/))
  }
}

const quiet = new Set(
  `: . [ cat cd column cut date declare df dirname basename du echo egrep env exit export false fgrep file grep head hostname id
  jq less local ls more nproc popd printenv printf ps pushd pwd readlink readonly realpath return rg set shift sleep source stat
  tail test tr true type typeset uname unset wait wc whoami which`
    .split(/\s+/)
    .concat(''),
)

function isTooling(line: string): boolean {
  return kindOfCommand(line) !== 'other' || installers.test(line)
}

const installers =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install)\b|yarn$|(?:uv|poetry|pdm)\s+(?:sync|install)\b|(?:python[\d.]*\s+-m\s+)?pip[\d.]*\s+install\b|(?:bundle|composer)\s+install\b|cargo\s+fetch\b|go\s+mod\s+download\b|(?:npm|pnpm|yarn|bun)\s+run\s+check$)/
