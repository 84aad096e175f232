import { basename } from 'node:path'
import type { ToolCall } from '../../../core/hook-event.ts'
import type { CallTargets } from '../../targets.ts'

/** A program with its words; null is a word nobody can know before it runs. */
export interface SpokenRun {
  readonly words: readonly (string | null)[]
  /** Each word as the name of a program; empty for one that is not known. */
  readonly names: readonly string[]
  /** Where the program stands, behind variables that are set for it; -1 when nothing else is there. */
  readonly first: number
  /** Taken out of a text that a program is given, such as `script -c '…'`: the program may stand anywhere in it. */
  readonly loose: boolean
  /** Its words are only shown or looked for. */
  readonly talks: boolean
}

/** What a call would run, and what it hands on as text to something that would run it. */
export function spokenRuns(call: ToolCall, targets: CallTargets): readonly SpokenRun[] {
  const feeds = targets.runs.some(readsCommands)
  const said = targets.runs.flatMap((words): readonly SpokenRun[] => {
    const talks = !feeds && talkers.has(nameOf(words[0]))
    const texts = words.filter((word): word is string => word !== null && /\s|,/.test(word))
    return [
      spoken(words, { talks, loose: false }),
      ...(talks ? [] : texts.map(looseRun)),
      ...(feeds ? [spoken(words.slice(1), { talks: false, loose: true })] : []),
    ]
  })
  const opaque = targets.opaque.map(({ text }) => looseRun(text))
  const foreign = foreignTexts(call).map(looseRun)
  return [...said, ...opaque, ...foreign]
}

/** What another kind of shell, or a tool we know nothing of, is told to run. */
function foreignTexts({ action, input }: ToolCall): readonly string[] {
  if (action.kind === 'shell') return action.language === 'powershell' ? [action.command] : []
  if (action.kind !== 'unknown' || typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([key, value]) =>
    /^(command|cmd|commands|script|code|args|argv|program|shell)$/i.test(key)
      ? [JSON.stringify(value) ?? '']
      : [],
  )
}

/** Where the named program stands in a run: first, behind wrappers, or anywhere in a text. -1 when it does not. */
export function programAt({ names, first, loose }: SpokenRun, isProgram: (name: string) => boolean): number {
  const program = names[first]
  if (program === undefined) return -1
  if (loose || wrappers.has(program)) return names.findIndex(isProgram)
  return isProgram(program) ? first : -1
}

/** `/usr/bin/Git.exe` as `git`. */
export function nameOf(word: string | null | undefined): string {
  const name = (word?.includes('/') ? basename(word) : (word ?? '')).toLowerCase()
  return name.includes('.') ? name.replace(/\.(exe|cmd|bat|ps1|js|mjs|cjs|ts)$/, '') : name
}

function looseRun(text: string): SpokenRun {
  const words = text.split(/[\s;&|()[\]{}'"`,]+/).filter((word) => word !== '')
  return spoken(words, { loose: true, talks: false })
}

function spoken(words: SpokenRun['words'], how: Pick<SpokenRun, 'loose' | 'talks'>): SpokenRun {
  const first = words.findIndex((word) => !word?.includes('=') || !/^\w+=/.test(word))
  return { words, names: words.map(nameOf), first, ...how }
}

/** They show or look for their words and run none of them. */
const talkers = new Set(
  'echo printf grep egrep fgrep rg ag ack cat head tail less more bat wc ls tree stat file diff cmp jq yq test [ [[ : true false man type which git gh read export set unset declare local sort uniq cut tr'.split(
    ' ',
  ),
)

const wrappers = new Set(
  'sudo doas su env nice ionice nohup time timeout stdbuf setsid script unbuffer expect socat xargs parallel command exec builtin eval npx npm pnpm pnpx yarn bunx bun deno node sh bash zsh dash ksh fish busybox watch ssh tmux screen at batch systemd-run unshare nsenter chroot flock strace ltrace faketime runuser pwsh powershell cmd find python python3 perl ruby'.split(
    ' ',
  ),
)

const readers = new Set(
  'sh bash zsh dash ksh fish python python3 node perl ruby at batch expect script pwsh'.split(' '),
)

/** A shell without a script takes its commands from whatever is piped into it. */
function readsCommands(words: readonly (string | null)[]): boolean {
  const name = nameOf(words[0])
  if (name === 'xargs' || name === 'parallel') return true
  return readers.has(name) && !words.slice(1).some((word) => word === null || !/^-(?!$)/.test(word))
}
