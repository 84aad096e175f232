import { posix } from 'node:path'
import { quotedName } from './write-limits.ts'

type Words = readonly (string | null)[]

/** Why a command is denied: it is a git command that changes refs, the index or the stash. null when it is allowed. */
export function gitRefusal(words: Words): string | null {
  const [program, ...rest] = words
  const named = /^git(?:-([\w-]+))?(?:\.exe)?$/.exec(posix.basename(program ?? ''))
  if (named === null) return null
  const own = named[1]
  const { command, args } = own === undefined ? afterOptions(rest) : { command: own, args: rest }
  if (command === undefined) return null
  return command !== null && onlyReads(command, args)
    ? null
    : refusal(
        command === null ? '`git` with words that are only known when it runs' : quotedName(`git ${command}`),
      )
}

/** The same for a tool named after a git command, such as `mcp__git__git_commit`. */
export function gitToolRefusal(tool: string): string | null {
  const [, command] = /(?:^|[^a-z])git[_-]([a-z]+)(?:[_-][a-z_-]*)?$/i.exec(tool) ?? []
  if (command === undefined || readers.has(command.toLowerCase()) || showing.has(command.toLowerCase()))
    return null
  return refusal(quotedName(tool))
}

function refusal(what: string): string {
  return `The agent must not run ${what}: only the user may change refs, the index or the stash. Change files, and leave them uncommitted.`
}

const valued = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env'])

/** `undefined`: there is no command, as in `git --version`. */
function afterOptions(words: Words): { readonly command: string | null | undefined; readonly args: Words } {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? null
    if (word === null || !word.startsWith('-')) return { command: word, args: words.slice(at + 1) }
    if (valued.has(word)) at += 1
  }
  return { command: undefined, args: [] }
}

/** These only read history and files, whatever their arguments. Output files are judged as file writes. */
const readers = new Set(
  'annotate archive blame cat-file check-attr check-ignore check-ref-format cherry count-objects describe diff diff-files diff-index diff-tree for-each-ref fsck grep help log ls-files ls-remote ls-tree merge-base name-rev range-diff rev-list rev-parse shortlog show show-branch show-ref status var version whatchanged'.split(
    ' ',
  ),
)

/** These show or change, depending on their arguments: true for arguments that only show. */
const showing = new Map<string, (args: readonly string[]) => boolean>([
  [
    'apply',
    (args) => !args.some((arg) => /^(?:--index|--cached|--3way|-[a-z]*3|--intent-to-add|-N)$/.test(arg)),
  ],
  [
    'branch',
    (args) =>
      isListing(
        args,
        /^(?:-[arv]+|--(?:all|remotes|verbose|show-current|list|contains|merged|no-merged|points-at|sort|format|column|color)(?:=.*)?)$/,
      ),
  ],
  [
    'tag',
    (args) =>
      isListing(
        args,
        /^(?:-l|-n\d*|--(?:list|contains|merged|no-merged|points-at|sort|format|column)(?:=.*)?)$/,
      ),
  ],
  ['remote', (args) => isVerb(args, /^(?:-v|--verbose|show|get-url)$/)],
  ['stash', (args) => args.length > 0 && isVerb(args, /^(?:list|show)$/)],
  ['reflog', (args) => isVerb(args, /^(?:show|exists|list|HEAD|-.*)$/)],
  ['notes', (args) => isVerb(args, /^(?:list|show)$/)],
  ['worktree', (args) => args.length > 0 && isVerb(args, /^list$/)],
  ['submodule', (args) => isVerb(args, /^(?:status|summary)$/)],
  [
    'config',
    (args) => isVerb(args, /^(?:--get(?:-all|-regexp|-urlmatch)?|--list|-l|get|list)$/) && args.length > 0,
  ],
])

function onlyReads(command: string, args: Words): boolean {
  if (readers.has(command)) return true
  const known = args.filter((arg) => arg !== null)
  return known.length === args.length && showing.get(command)?.(known) === true
}

function isVerb([first]: readonly string[], verbs: RegExp): boolean {
  return first === undefined || verbs.test(first)
}

/** Every word is a listing option; a pattern may follow an option that takes one. */
function isListing(args: readonly string[], options: RegExp): boolean {
  const asks = args.some((arg) => /^(?:-l|--(?:list|contains|merged|no-merged|points-at))/.test(arg))
  return args.every((arg) => options.test(arg) || (asks && !arg.startsWith('-')))
}
