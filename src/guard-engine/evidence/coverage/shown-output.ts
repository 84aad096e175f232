import type { Command, CommandNode, ParsedScript, PipelineNode, Redirection, Statement } from 'unbash'
import { kindOfCommand } from '../../../core/kind-of-command.ts'
import { isHarmlessAssignment, setsUp } from '../../../shell/script-state.ts'
import { simpleCommand, simpleCommandsIn, wordText } from '../../../shell/simple-command.ts'
import { installers, isOutside, sedOnlySelects } from '../may-change-files.ts'
import { scriptsIn } from './read-check.ts'

/** How much of the output of a run is in the output of the call. */
export interface ShownPart {
  /** Its end, only the last line or two, lines about failures and others, some lines, or nothing. */
  readonly part: (typeof parts)[number]
  /** At most so many of its first lines. */
  readonly first: number
  /** Other commands print before it: only what the output ends with is certainly its own. */
  readonly isMixed: boolean
  /** Every run prints whatever is wrong, and nothing of that goes elsewhere. */
  readonly isLoud: boolean
  /** It ended before the command whose summary is at the end, which started only because it succeeded. */
  readonly isEarlier?: true
}

/** From more to less. */
const parts = ['end', 'few', 'picked', 'lines', 'nothing'] as const

/** What is asked about a call. */
interface Shown {
  isRun(command: Command): boolean
  /** A task that runs several commands. */
  isTask(command: Command): boolean
  /** A run of a runner that always prints how it ended. */
  isRunner(command: Command): boolean
  /** What a task or a script of the project runs; null for anything else. */
  inside(command: Command): ParsedScript | null
  /** Only makes or removes files, before the run. */
  isCleared(command: Command): boolean
  /** Text of a file in the root; null when it cannot be read. */
  read(name: string): string | null
  /** Variables of any name may be set. */
  readonly free: boolean
  /** The same, or the names in a directory, by a path of a command that runs in the root; null when neither is known. */
  look(path: string): string | null
}

/**
 * How much of a run's output the output of the call shows, when nothing else in the call can have printed a summary. null when something
 * else may have.
 */
export function shownOutput(script: ParsedScript, shown: Shown): ShownPart | null {
  const { isRun } = shown
  let shows: ShownPart['part'] = 'end'
  let most = Infinity
  let isMixed = false
  let isLoud = true
  let areTestsLoud = true
  let runs = 0
  let tests = 0
  let isMoved = false
  const files = new Set<string>()
  const areFine = (statements: readonly Statement[]): boolean =>
    statements.every(({ command, background }) => {
      if (background) return false
      if (command.type !== 'AndOr') return isFineOrEarlier(command)
      const before = runs
      const isFineChain = command.commands.every(isFineOrEarlier)
      return isFineChain && (before === runs || command.operators.every((operator) => operator === '&&'))
    })
  const tops = script.commands.flatMap(({ command }) =>
    command.type === 'AndOr' ? command.commands : [command],
  )
  /** What ends before the tests may print anything, if no filter is shared with them. */
  const isFineOrEarlier = (node: PipelineNode): boolean => {
    if (isFine(node)) return true
    isMixed = true
    return tops.includes(node) && tests === 0 && !simpleCommandsIn(node).some(isRun)
  }
  const isFine = (node: PipelineNode): boolean => {
    switch (node.type) {
      case 'Command':
        return isFineCommand(node)
      case 'Pipeline':
        return isFinePipeline(node.commands)
      case 'Subshell':
      case 'BraceGroup':
        return areFine(node.body.commands)
      case 'Redirected':
        isLoud &&= !node.redirects.some(hides)
        areTestsLoud &&= !node.redirects.some(hides)
        return !node.redirects.some(isKept) && isFine(node.command)
      default:
        return false
    }
  }
  const isFineCommand = (node: Command): boolean => {
    if (isRun(node)) return seen(node)
    const filter = filterOf(node, files)
    if (filter !== null) return filtered(filter)
    const { words } = simpleCommand(node)
    if (/^(?:cd|pushd|popd)$/.test(words[0] ?? '')) isMoved ||= !/^\.\/*$/.test(words[1] ?? '')
    if (words[0] === 'rm' && words.slice(1).every((word) => files.has(word) || word === '-f')) return true
    if (shown.isCleared(node) || saysNothing(node, shown)) return true
    if (runs === 0 && editsQuietly(node)) {
      // What it wrote is not what was looked at.
      isMoved = true
      return true
    }
    if (!isMoved && !node.redirects.some(isKept) && printsOther(words, shown)) return true
    const inner = /^(?:\/bin\/)?(?:ba)?sh$/.test(words[0] ?? '') ? shown.inside(node) : null
    return inner !== null && node.redirects.length === 0 && areFine(inner.commands)
  }
  /** Filters pass lines of what is before them. */
  const isFinePipeline = ([first, ...rest]: readonly CommandNode[]): boolean => {
    const before = runs
    if (first === undefined || !isFine(first)) return false
    if (before === runs) return rest.every((each) => each.type === 'Command' && passesLines(each))
    // A filter of several runs may leave out all that one of them prints.
    isLoud &&=
      runs - before === 1 ||
      rest.every((each) => each.type === 'Command' && /^(?:cat|tee)$/.test(each.name?.text ?? ''))
    return rest.every((each) => {
      const filter = each.type === 'Command' ? filterOf(each, null) : null
      if (each.type === 'Command' && filter !== null) for (const file of teeFiles(each)) files.add(file)
      if (each.type === 'Command' && filter === 'lines') most = Math.min(most, countOf(each))
      return filtered(filter)
    })
  }
  const seen = (node: Command): boolean => {
    runs += 1
    isMixed ||= shown.isTask(node)
    isLoud &&= shown.isRunner(node) && !node.redirects.some(hides)
    const kind = kindOfCommand(simpleCommand(node).words.join(' '))
    // A build may print anything before them.
    if (kind === 'build') isMixed = true
    else if (kind !== 'lint') {
      tests += 1
      areTestsLoud &&= shown.isRunner(node) && !node.redirects.some(hides)
    }
    for (const redirect of node.redirects) {
      if (redirect.type !== 'Redirect' || redirect.target === undefined) continue
      const target = wordText(redirect.target)
      if (/^(?:>|&>|>\|)$/.test(redirect.operator) && (plainWord.test(target) || freshFile.test(target)))
        files.add(target)
    }
    return true
  }
  const filtered = (filter: ShownPart['part'] | null): boolean => {
    if (filter !== null && parts.indexOf(filter) > parts.indexOf(shows)) shows = filter
    return filter !== null
  }
  const isReadable = areFine(script.commands)
  if (!isReadable || runs === 0 || tests > 1) return null
  return isMixed && !(areTestsLoud && /^(?:end|few)$/.test(shows))
    ? null
    : { part: shows, first: most, isMixed, isLoud }
}

/** Whether something of the output or the errors goes elsewhere. */
function hides(redirect: Redirection): boolean {
  return redirect.type === 'Redirect' && !/^(?:<|>&)$/.test(redirect.operator)
}

/** How many lines `head` or `tail` shows. */
function countOf(node: Command): number {
  const count = /(?:^| )(?:-n ?|--lines[= ]|-)(\d+)(?: |$)/.exec(simpleCommand(node).words.slice(1).join(' '))
  return Number(count?.[1] ?? 10)
}

/** Whether the redirection sends output elsewhere than to the output of the call, or away. */
function isKept(redirect: Redirection): boolean {
  return redirect.type !== 'Redirect' || !/^(?:\d|\/dev\/null)$/.test(redirect.target?.text ?? '')
}

/** Writes a text to a file, or edits files in place, and prints nothing. */
function editsQuietly(node: Command): boolean {
  const { words } = simpleCommand(node)
  if (/^sed -i\S* (?:-[Er] )?(?!.*\/dev\/)/.test(words.join(' '))) return node.redirects.length === 0
  const targets = node.redirects.flatMap((each) =>
    each.type === 'Redirect' ? [each.target?.text ?? ''] : [],
  )
  const isWritten = targets.length === 1 && /^(?!\/dev\/)[\w./-]+$/.test(targets[0] ?? '')
  return (
    isWritten &&
    /^(?:cat|echo|printf)$/.test(words[0] ?? '') &&
    node.redirects.some(({ operator }) => /^>[>|]?$/.test(operator))
  )
}

/** A filter that adds no line of its own, behind something that prints no summary. */
function passesLines(node: Command): boolean {
  const { words } = simpleCommand(node)
  const isOther = /^(?:wc(?: -[lwc]+)?|uniq(?: -c)?|jq(?: -[CMS]+)* [\w.[\]"]+|cut -[cdf]\S*)$/.test(
    words.join(' '),
  )
  return node.redirects.length === 0 && (isOther || filterOf(node, null) !== null)
}

/** Commands that print text of files, names or facts of the machine, none of which resembles a summary. */
function printsOther([name = '', ...args]: readonly string[], { look }: Shown): boolean {
  const options = args.filter((arg) => arg.startsWith('-'))
  const operands = args.filter((arg) => !arg.startsWith('-') && !/^\d+$/.test(arg))
  const only = (pattern: RegExp): boolean => options.every((arg) => pattern.test(arg))
  const isPlain = (paths: readonly string[]): boolean =>
    paths.every((path) => {
      const text = plainWord.test(path) ? look(path) : null
      return text !== null && !likeSummary.test(text)
    })
  switch (name) {
    case 'ls':
      return only(/^-[1aAdFghlprSt]+$/) && isPlain(operands.length === 0 ? ['.'] : operands)
    case 'cat':
    case 'head':
    case 'tail':
    case 'wc':
      return only(/^-[lwcnq]*\d*$/) && operands.length > 0 && isPlain(operands)
    case 'sed':
      return (
        args[0] === '-n' &&
        /^\d+(?:,(?:\d+|\$))?p$/.test(args[1] ?? '') &&
        args.length > 2 &&
        isPlain(args.slice(2))
      )
    case 'jq':
      return options.length === 0 && operands.length === 2 && isPlain(operands.slice(1))
    // The name of the file or the number of the line is before each line.
    case 'grep':
    case 'rg':
      return only(/^-[rRniEFwl]+$/) && options.some((arg) => /[rRn]/.test(arg))
    case 'find':
      return (
        !args.some((arg) => /^-(?:exec|ok|printf|fprint|fls|ls|delete)/.test(arg)) &&
        !likeSummary.test(look('.') ?? '')
      )
    default:
      return machineFacts.test([name, ...args].join(' '))
  }
}

const likeSummary =
  /\d+ (?:\w+ )?(?:pass|fail|tests?|examples?|error|issue)|^[ \t]*(?:#|ℹ) (?:tests|fail|cancelled|pass) \d|BUILD SUCC|^ok\b|^OK\b|\bpassed\b|^ *Tests?\b.*\d|no issues|Checked \d/im

const machineFacts =
  /^(?:uname|whoami|hostname|nproc|arch|uptime|df|du|free|tree|clear|sync|wait|jobs|ulimit|umask|unset|kill|pkill|test|\[|id|pg_isready|which|type|command -v|ps|docker(?: |-)compose (?:up -d|down|start|stop|ps)|git (?:diff (?:\S+ )*--(?:stat|shortstat|numstat)|stash list|remote|branch|fetch))(?: |$)/

/** What a filter lets through; null for anything that can print something else. `files` were written by the run. */
function filterOf(node: Command, files: ReadonlySet<string> | null): ShownPart['part'] | null {
  const [name = '', ...args] = simpleCommand(node).words
  if (node.redirects.length > 0) return null
  const options = args.filter((arg) => /^[-+]./.test(arg))
  const isFile = (operands: readonly string[]): boolean =>
    files === null ? operands.length === 0 : operands.length > 0 && operands.every((each) => files.has(each))
  switch (name) {
    case 'tail':
    case 'head': {
      const isCount = options.every((arg) => /^(?:-n?[+-]?\d*|-c|--lines(?:=[+-]?\d+)?|-q|\+\d+)$/.test(arg))
      const operands = args.filter(
        (arg, index) => !/^[-+]/.test(arg) && !/^-(?:n|c|-lines)$/.test(args[index - 1] ?? ''),
      )
      if (/(?:^|\s)-c (?!\d{3,}(?:\s|$))/.test(args.join(' '))) return null
      if (/(?:^|\s)(?:-n? ?|--lines[= ])-?0+(?:\s|$)/.test(args.join(' '))) return 'nothing'
      if (!isCount || !isFile(operands)) return null
      return name === 'head' ? 'lines' : countOf(node) < 3 ? 'few' : 'end'
    }
    case 'cat':
    case 'less':
    case 'more':
      return options.every((arg) => /^-[RFX]+$/.test(arg)) &&
        isFile(args.filter((arg) => !arg.startsWith('-')))
        ? 'end'
        : null
    case 'tee':
      return files === null && args.every((arg) => arg === '-a' || isOutside(arg)) ? 'end' : null
    case 'grep':
    case 'egrep':
    case 'rg': {
      const isLook = options.every((arg) =>
        /^-(?:[EiFwaPv]+|[ABC]\d*|-color=never|-line-buffered)$/.test(arg),
      )
      const operands = args.filter(
        (arg, index) => !arg.startsWith('-') && !/^-[ABC]$/.test(args[index - 1] ?? ''),
      )
      if (!isLook || operands.length === 0 || !isFile(operands.slice(1))) return null
      // A pattern for failures too leaves no verdict out.
      const isInverted = options.some((arg) => /^-[A-Za-z]*v/.test(arg))
      if (isInverted && /^(?:\\?\[?no test files\\?\]?|\^\$|\w*warnings?)$/i.test(operands[0] ?? ''))
        return 'end'
      return !isInverted && /fail|(?:^|\|)\^?test result:?(?:$|\|)/i.test(operands[0] ?? '')
        ? 'picked'
        : 'lines'
    }
    case 'sed':
      return files === null && sedOnlySelects(args) ? 'lines' : null
    // Wide enough for every line of a summary.
    case 'cut':
    case 'fold':
      return files === null && /^-(?:c ?(?:1?-)|w ?)(?:[89]\d|\d{3,})$/.test(args.join(' ')) ? 'end' : null
    case 'tr':
      return files === null && args.join(' ') === '-d \\r' ? 'end' : null
    default:
      return null
  }
}

function teeFiles(node: Command): readonly string[] {
  const [name, ...args] = simpleCommand(node).words
  return name === 'tee' && !args.includes('-a') ? args : []
}

/** The variable of a file that `mktemp` made. */
const freshFile = /^\0"?\$\{?\w+\}?$/

/** Without blanks: no line of a summary is one word, so an argument or an error message cannot be one. */
const plainWord = /^[\w@./:=,+%~-]*$/

/**
 * Commands that print no summary, whatever their arguments are: builtins, tools that check or build, installers, and an `echo` that
 * resembles none. Tasks are followed, because a script of the project can print anything.
 */
function saysNothing(node: Command, shown: Shown, depth = 0): boolean {
  const { words, assignments } = simpleCommand(node)
  const [name, ...args] = words
  if (name === undefined)
    return assignments.every(({ text }) =>
      /^\w+="?\$(?:\?|\{PIPESTATUS\[\d\]\}|\(mktemp(?: -d| \/tmp\/[\w.-]+)*\))"?$/.test(text),
    )
  if (node.redirects.some(isKept)) return false
  if (name === 'echo' || name === 'printf') return isPlainEcho(name, args)
  if (name === 'exit' && /^\0"?\$(?:\?|\{PIPESTATUS\[\d\]\}|\{?\w+\}?)$/.test(args.join(' '))) return true
  if (name === 'cd' && /^\0"?\$(?:\{?PWD\}?|\(pwd\)|\(git rev-parse --show-toplevel\))$/.test(args.join(' ')))
    return true
  if (name === 'export' && args.length > 0 && args.every((arg) => isHarmlessAssignment(arg, shown.free)))
    return true
  if (/^(?:source|\.)$/.test(name)) return isQuietActivation(args, shown)
  if (name === 'git' && /^(?:commit|checkout|switch|stash)$/.test(args[0] ?? ''))
    return isQuietGit(args, shown)
  if (!words.every((word) => plainWord.test(word))) return false
  const line = words.join(' ')
  if (assignments.length === 0 && silent.some((pattern) => pattern.test(line))) return true
  if (installers.test(line) && !/ run |--foreground/.test(line)) return installsQuietly(shown)
  const bare = line.replace(launcher, '').replace(/^\S*\/bin\//, '')
  if (tools.test(bare) && !printing.test(bare)) return true
  const inner = depth < 3 ? shown.inside(node) : null
  return inner !== null && simpleCommandsIn(inner).every((each) => saysNothing(each, shown, depth + 1))
}

/** Fixed words without a number, and the exit status. */
function isPlainEcho(name: string, args: readonly string[]): boolean {
  const status = /\0"?\$(?:\?|\{PIPESTATUS\[\d+\]\}|\{?(?:rc|status|code|ec|exit_code)\}?)/gi
  const text = args
    .join(' ')
    .replaceAll(status, '')
    .replaceAll(/\\[nt]/g, ' ')
  const isLine = name === 'echo' ? args[0] !== '-n' : /(?:\\n|\n)$/.test(args[0] ?? '')
  const like = /\0|[\\*?]|%[^s]|pass|fail|\bok\b|succ|issue|check|\d/i
  // A heading such as `== tests ==` has no number; with the exit status it would.
  const isCount = args.some((arg) => arg.includes('\0')) && /\btests?\b|\bran\b/i.test(text)
  return (
    isLine && !isCount && !like.test(text) && !/pass|fail|succ|issue|check/i.test(text.replaceAll(/\s/g, ''))
  )
}

const silent: readonly RegExp[] = [
  /^cd(?: --)? (?!-)\S+$/,
  /^(?:pwd|true|:|pushd(?: (?!-)\S+)?|popd)$/,
  /^(?:break|continue|exit(?: \d+)?)$/,
  /^set(?: [-+][euxE]*o? ?(?:pipefail|errexit|nounset)?)+$/,
  // The names that `echo` may print.
  /^export(?: (?!(?:rc|status|code|ec|exit_code)=)\w+=\S*)+$/i,
  /^sleep [\d.]+[smh]?$/,
  /^date(?: -u| -I\w*)*(?: \+(?:%[-_]?[YmdHMSFTsNZz]|[-:T_/.])+)?$/,
  // File names are behind a tab or a letter.
  /^git (?:status(?: (?:-[sbu]+(?:no)?|--short|--branch|--porcelain(?:=v[12])?))*|rev-parse(?: \S+)+|branch --show-current|log --oneline(?: -n?\d*| \d+)*|add(?: \S+)+)$/,
  /^(?:node|npm|pnpm|yarn|python3?|cargo|git|bun) (?:--version|-v|-V)$|^go version$/,
]

const launcher =
  /^(?:(?:npx|bunx)(?: --no(?:-install)?| -y)? |(?:pnpm|npm) exec (?:-- )?|(?:uv|poetry|pipenv|pdm) run |python[\d.]* -m )/

/** What they print has a form of its own. */
const tools =
  /^(?:eslint|oxlint|stylelint|knip|tsc|vue-tsc|tsup|mypy|pyright|basedpyright|flake8|pylint|biome (?:check|lint|ci)|ruff (?:check|format)|(?:prettier|black|isort) (?:\S+ )*--check|golangci-lint run|go (?:vet|build)|cargo (?:build|check|clippy|fmt)|dotnet (?:build|restore)|(?:vite|next) build|husky)(?: |$)/

/** Options that choose what is printed. */
const printing =
  / (?:-f|--format|--formatter|--output-format|-c|--config|-o|--output\S*|--showConfig|--print-config|--stdin\S*|--rulesdir|--plugin|--custom-\S+|--msg-template|-h|--help)(?:[ =]|$)/

/** A subject is behind other words, and names of files behind a tab. Hooks of the repository could print anything. */
function isQuietGit([verb = '', ...args]: readonly string[], { look }: Shown): boolean {
  const isPlain =
    verb === 'commit'
      ? args.every((arg, at) => /^-(?:[aqm]+|-quiet|-all)$/.test(arg) || /m$/.test(args[at - 1] ?? ''))
      : args.every((arg) => plainWord.test(arg) && !/^(?:show|list|-p|--patch)$/.test(arg))
  const hooks = look('.git/hooks')?.split('\n') ?? []
  return isPlain && look('.husky') === null && hooks.every((name) => name === '' || name.endsWith('.sample'))
}

/** The script of a virtual environment changes variables. One that was changed to print is no such script. */
function isQuietActivation(args: readonly string[], { read }: Shown): boolean {
  const [file = '', ...more] = args
  // What this session wrote into one of the home is looked at with the runner.
  if (setsUp(args) && /^[~\0]/.test(file)) return true
  if (more.length > 0 || !/^(?:\.\/)?\.?[\w-]+\/bin\/activate$/.test(file)) return false
  return !/\b(?:echo|printf|cat|date|tail|head|base64)\b/.test(read(file.replace(/^\.\//, '')) ?? '')
}

/** An installation runs some scripts of the project itself, and shows what they print. */
function installsQuietly({ read }: Shown): boolean {
  const scripts = scriptsIn(read('package.json'))
  const names = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']
  return names.every((name) => {
    const script = scripts.get(name)?.replace(launcher, '') ?? ''
    return script === '' || (/^[\w@./:=,+ -]*$/.test(script) && tools.test(script) && !printing.test(script))
  })
}
