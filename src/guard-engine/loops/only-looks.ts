import type { StoredCall } from '../contract.ts'
import { simpleCommands } from './simple-commands.ts'

/**
 * Does a call only look at something or wait for it? Doing that again is no loop: an agent reads a file twice, asks
 * for the state of a build until it is there. A reading tool that fails is another matter: the file will not appear by itself.
 */
export function onlyLooks({ action, tool, command, outcome }: StoredCall): boolean {
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

/** Every command of the line is one that changes nothing. `sleep` and `wait` make the whole line a waiting one. */
function shellOnlyLooks(line: string): boolean {
  const commands = simpleCommands(line)
  if (commands === null || commands.length === 0) return false
  if (commands.some(([program]) => program === 'sleep' || program === 'wait')) return true
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

/** Programs that look with some of their words and act with others. */
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
