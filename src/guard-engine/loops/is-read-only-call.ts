import { kindOfCommand } from '../../core/kind-of-command.ts'
import { isWrapper, unwrap } from '../../shell/wrappers.ts'
import type { StoredCall } from '../contract.ts'

/**
 * Whether a call only reads or waits. Repeating that is not a loop: an agent may read a file twice or poll a build. A failing read is
 * different, because the file will not appear by itself.
 */
export function isReadOnlyCall({ action, tool, command, outcome }: StoredCall): boolean {
  switch (action) {
    case 'shell':
      return command !== undefined && shellOnlyLooks(command)
    case 'read':
      return outcome?.kind !== 'failure'
    case 'unknown':
      return waitingTool.test(tool) || (outcome?.kind !== 'failure' && lookingTool.test(tool))
    case 'write':
    case 'edit':
    case 'patch':
    case 'subagent':
      return false
  }
}

const waitingTool = /output|wait|poll|monitor|sleep|write_stdin|todo|update_plan|kill/i
const lookingTool = /read|list|get|search|fetch|view|glob|grep|find|status|query|show|describe/i

/** Whether every command of the line changes nothing. `sleep` and `wait` make the whole line a waiting one, unless it runs a check. */
function shellOnlyLooks(line: string): boolean {
  const commands = simpleCommands(line)
  if (commands === null || commands.length === 0) return false
  if (commands.some(([program]) => program === 'sleep' || program === 'wait'))
    return commands.every((words) => kindOfCommand(words.join(' ')) === 'other')
  return commands.every(looks)
}

function looks([program = '', ...args]: readonly string[]): boolean {
  if (args.length > 0 && args.every((word) => word === '--version' || word === '--help' || word === '-V'))
    return true
  if (program === 'find') return !args.some((word) => /^-(?:delete|exec|execdir|ok|okdir|fprint)/.test(word))
  if (program === 'sed') return !args.some((word) => /^-[a-z]*i|^--in-place/.test(word))
  if (program === 'sort') return !args.some((word) => /^-[a-z]*o|^--output/.test(word))
  if (program === 'curl') return false
  if (looking.has(program)) return true
  const verbs = lookingVerbs.get(program)
  return verbs?.test(args.filter((word) => !word.startsWith('-')).join(' ')) ?? false
}

const looking = new Set(
  `ps pgrep top uptime date jobs watch tail head cat bat less more ls dir exa eza pwd cd stat wc grep egrep fgrep
   rg ag fd tree which whereis type command echo printf printenv env df du free lsof ss netstat id whoami uname
   hostname true false test [ [[ file diff cmp md5sum sha1sum sha256sum cksum jq yq uniq cut tr awk column nproc
   journalctl squeue ping nc readlink realpath basename dirname export set shopt read seq nl od xxd hexdump
   strings dmesg history`.split(/\s+/),
)

/** Programs that read or change depending on their subcommand. */
const lookingVerbs = new Map<string, RegExp>([
  [
    'git',
    /^(?:status|log|diff|show|branch$|remote(?: -v|$)|rev-parse|rev-list|ls-files|ls-tree|ls-remote|blame|describe|stash list|fetch|tag$|config --get|grep|shortlog|cat-file)/,
  ],
  ['gh', /^(?:\w+ (?:view|list|status|watch|checks|diff)|status|api [^ ]+$)/],
  ['glab', /^\w+ (?:view|list|status|diff)/],
  [
    'docker',
    /^(?:ps|logs|inspect|images|stats|wait|version|info|top|port|(?:compose|container|image|network|volume) (?:ps|ls|logs|inspect|top))/,
  ],
  ['podman', /^(?:ps|logs|inspect|images|stats|wait|version|info|top|port)/],
  ['kubectl', /^(?:get|describe|logs|wait|top|version|rollout status|cluster-info|explain)/],
  ['systemctl', /^(?:status|is-active|is-enabled|is-failed|show|list-)/],
  ['aws', /^[\w-]+ (?:wait|describe-|list-|get-|ls)/],
  ['gcloud', /\b(?:list|describe|read)$/],
  ['terraform', /^(?:show|output|state list|version)/],
  ['npm', /^(?:ls|list|view|outdated|why|config get)/],
  ['pnpm', /^(?:ls|list|why|outdated)/],
  ['pip', /^(?:list|show|freeze)/],
  ['cargo', /^(?:tree|metadata|search)/],
  ['go', /^(?:list|env|version|doc)/],
])

/**
 * Splits a shell line into simple commands by operators and quotes. That is precise enough here, where a mistake costs at most one warning.
 * null when it writes to a file or contains a substitution.
 */
function simpleCommands(line: string): readonly (readonly string[])[] | null {
  const pieces = line.match(token)
  if (pieces === null) return []
  const commands: string[][] = [[]]
  let takesFile: 'read' | 'write' | null = null
  for (const piece of pieces) {
    if (/^\s+$/.test(piece)) continue
    if (piece.includes('$(') || piece.includes('`')) return null
    if (takesFile !== null) {
      if (takesFile === 'write' && piece !== '/dev/null') return null
      takesFile = null
    } else if (redirection.test(piece)) {
      if (!/^\d?[<>]&/.test(piece)) takesFile = piece.includes('>') ? 'write' : 'read'
    } else if (operator.test(piece)) commands.push([])
    else commands.at(-1)?.push(piece.replaceAll(/\\(.)|["']/g, '$1'))
  }
  return commands.flatMap(innerCommands)
}

const token =
  /\s+|&&|\|\||[;|\n()]|&(?!>)|(?:\d|&)?(?:>>|>|<)(?:&\d?-?)?|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;|&()<>])+|["'\\]/g
const redirection = /^(?:\d|&)?[<>]/
const operator = /^(?:&&|\|\||[;|&()\n])$/
const keywords = new Set(['while', 'until', 'do', 'done', 'if', 'then', 'else', 'fi', '!', '{', '}', 'time'])
/** The command without keywords, assignments and wrappers. */
function innerCommands(words: readonly string[]): readonly (readonly string[])[] {
  const at = words.findIndex((word) => !keywords.has(word) && !/^\w+=/.test(word))
  const [program = '', ...args] = at === -1 ? [] : words.slice(at)
  if (program === '') return []
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (!isWrapper(name)) return [[name, ...args]]
  const inner = unwrap(
    name,
    args.map((word) => ({ value: word, text: word })),
  )
  // `yarn test` runs a script of the package, not the program `test`.
  if (inner === null || inner.length === 0 || inner.some(({ named }) => named)) return [[name, ...args]]
  return inner.flatMap((each) =>
    each.kind === 'words'
      ? innerCommands(each.words.map(({ value }) => value))
      : (simpleCommands(each.source) ?? [[name, ...args]]),
  )
}
