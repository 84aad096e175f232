import { type Command, parse, type Redirection } from 'unbash'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { setUpByEval } from '../../shell/script-state.ts'
import {
  literalWord,
  type SimpleCommand,
  simpleCommand,
  simpleCommandsIn,
} from '../../shell/simple-command.ts'
import { unwrapPlain } from '../../shell/unwrap-command.ts'

/**
 * Whether this command could replace files while another command of the same call runs, and restore them afterwards. Then the tree before
 * and after the call is not the tree of the run. Commands that verify, build or install are trusted.
 */
export function mayChangeFiles(command: Command, isTrusted = isTooling): boolean {
  if (command.redirects.some(writes)) return true
  const { command: inner, script } = unwrapPlain(simpleCommand(command))
  if (script !== null) {
    const parsed = parse(script.source)
    return (
      parsed.errors !== undefined || simpleCommandsIn(parsed).some((each) => mayChangeFiles(each, isTrusted))
    )
  }
  return !isQuiet(inner) && !isTrusted(inner.words.join(' '))
}

function writes(redirection: Redirection): boolean {
  if (redirection.type !== 'Redirect' || redirection.operator === '<') return false
  const target = redirection.target === undefined ? null : literalWord(redirection.target)
  return target === null || !isOutside(target)
}

/** Outside of the project, or a log in it: a file that no test reads. */
export function isOutside(target: string): boolean {
  return /^(?:\d+|-|\/dev\/(?:null|stdout|stderr|tty)|\/(?:var\/)?tmp\/(?!.*\.\.).+|(?!\/)(?!.*\.\.)[\w./-]+\.(?:log|out))$/.test(
    target,
  )
}

function isQuiet({ words: [name = '', ...args] }: SimpleCommand): boolean {
  const has = (pattern: RegExp): boolean => args.some((arg) => pattern.test(arg))
  switch (name) {
    case 'git':
      return /^(?:add|status|diff|log|show|rev-parse|branch|commit|ls-files|describe|remote)$/.test(
        args[0] ?? '',
      )
    case 'eval':
      return args.length === 1 && has(setUpByEval)
    case 'find':
      return !has(/^-(?:delete|exec|execdir|ok|okdir|fprint\w*|fls)$/)
    case 'sort':
      return !has(/^(?:-[a-zA-Z]*o|--output)/)
    case 'sed':
      return sedOnlySelects(args)
    case 'tee':
      return args.every((arg) => arg === '-a' || isOutside(arg))
    case 'uniq':
      return args.every((arg) => arg.startsWith('-'))
    default:
      return quiet.has(name) || (args.length === 1 && has(/^(?:--version|-v|-V)$/))
  }
}

/** Whether `sed` with these arguments and no file only leaves lines out, indents them or removes colours. */
export function sedOnlySelects(args: readonly string[]): boolean {
  const scripts = args.filter((arg) => !/^-(?:[nEr]+|e)$/.test(arg))
  const place = String.raw`(?:\d+|\$|/[^/\n]*/)`
  const select = new RegExp(String.raw`^(?:${place}(?:,${place})?[pdq]|s/\^/ +/|s/${colour}//g)$`)
  return scripts.length === 1 && scripts.every((script) => select.test(script))
}

/** How colours are written in an expression of sed. */
const colour = String.raw`(?:\\x1[bB]|\\o033|\\033|\\e|\x1b)\\?\[\[[0-9;?]*(?:0-9)?[0-9;?]*\][*+](?:[mK]|\[[A-Za-z-]+\])`

const quiet = new Set(
  `: . [ cat cd column cut date declare df dirname basename du echo egrep env exit export false fgrep file fnm grep head history hostname id
  jq less local ls mktemp more nodenv nproc nvm popd printenv printf ps pushd pwd pyenv rbenv readlink readonly realpath return rg set shift sleep source stat
  tail test tr true type typeset uname unset wait wc whoami which`
    .split(/\s+/)
    .concat(''),
)

function isTooling(line: string): boolean {
  return kindOfCommand(line) !== 'other' || installers.test(line)
}

export const installers =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:ci|i|install)\b|yarn$|(?:uv|poetry|pdm)\s+(?:sync|install)\b|(?:python[\d.]*\s+-m\s+)?pip[\d.]*\s+install\b|(?:bundle|composer)\s+install\b|cargo\s+fetch\b|go\s+mod\s+(?:download|tidy|verify)\b|poetry\s+env\s+use\b|mix\s+(?:deps\.get|compile|format)\b|nvm\s+(?:use|install)\b|corepack\s+enable\b|gofmt\s+-[lw]\b|(?:npm|pnpm|yarn|bun)\s+run\s+check$)/
