import { join } from 'node:path'
import type { Variables } from '../core/expand.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { bytesOf, modifiedAtMs } from '../io/directory.ts'
import { isDirectory } from '../io/path-kind.ts'
import { makePrivateDirectories } from '../io/private-files.ts'
import { sha256 } from '../io/sha256.ts'
import { startDetached } from '../io/start-detached.ts'
import { textBeside } from '../io/text-beside.ts'

/** On every Debian and macOS. Bash starts a little faster, but it cannot open a Unix socket. */
export const perl = '/usr/bin/perl'

export interface HookCommandLine {
  readonly node: string
  readonly hookBin: string
  readonly agent: string
  /** Events that must not pass when nothing can judge them. */
  readonly blocking: readonly string[]
}

/**
 * Variables that change how programs started by the helper work, above all git. A hook with different values needs a different helper.
 * Understood by Perl and by JavaScript.
 */
export const helperVariables =
  '^(?:PATH|HOME|TMPDIR|USER|LOGNAME|LANG|LC_[A-Z]+|XDG_[A-Z_]+|GIT_[A-Z0-9_]+|NODE_[A-Z_]+)$'

/** A larger payload is for Node. */
const maxAskedBytes = 1024 * 1024

/**
 * Options with which a hook starts a third faster: V8 does not make a new hash seed, and does not prepare for a long run: it optimizes only
 * what is still busy after ten times as long. Without a seed of its own, names made to collide would slow a hook down, so a large payload
 * gets none of them.
 */
const nodeOptions = [
  '--no-rehash-snapshot',
  '--no-sparkplug',
  '--no-enable-lazy-source-positions',
  '--regexp-tier-up-ticks=10',
  '--min-semi-space-size=4',
  '--invocation-count-for-maglev=4000',
  '--invocation-count-for-maglev-osr=1000',
  '--v8-pool-size=1',
  '--disable-sigusr1',
]
/** Names the options where all of them would be too long for a file name. */
const optionsEdition = sha256(nodeOptions.join(' ')).slice(0, 12)
const maxFixedHashBytes = 64 * 1024

/** Lets launchers use the options from now on, if this Node knows them: if not, it ends before it makes the directory. Never waits. */
export function tryNodeOptions(node: string, env: Variables): void {
  const edition = `${bytesOf(node)}-${Math.floor((modifiedAtMs(node) ?? 0) / 1000)}`
  const cache = join(guardHome(env), 'cache')
  const tried = join(cache, `hook-options-${edition}-${optionsEdition}`)
  if (isDirectory(tried)) return
  makePrivateDirectories(cache)
  const make = 'process.getBuiltinModule("node:fs").mkdirSync(process.argv[1], 0o700)'
  startDetached(node, [...nodeOptions, '--eval', make, tried], env)
}

/**
 * The first lines of a launcher. The kernel starts Perl, which asks the helper and prints its answer. Whatever is unexpected starts Node with
 * the same payload: no helper, a helper that is silent, an answer that is not whole or lacks the secret. To Node these lines are a comment.
 * null when a path would end that comment.
 *
 * A file that only this user can read and write names the socket and two secrets: one that the helper expects, one that proves its answer.
 */
export function askHelper({ node, hookBin, agent, blocking }: HookCommandLine): string | null {
  if ([node, hookBin].some((path) => path.includes('*/') || path.includes('\n'))) return null
  const limits = [maxAskedBytes, maxFixedHashBytes].map(String)
  const settings = [node, hookBin, agent, helperVariables, optionsEdition, ...limits]
  return `#!${perl}
//; <<'*';
/*
*
# Node: ${JSON.stringify(node)}
my ($node, $bin, $agent, $variables, $optionsEdition, $maxBytes, $maxFixedHashBytes) = (${quoted(settings)});
my @options = (${quoted(nodeOptions)});
my @blocking = (${quoted(blocking)});
${textBeside(import.meta.url, './ask-helper.pl')}*/`
}

/** As strings of Perl. */
function quoted(texts: readonly string[]): string {
  return texts.map((text) => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`).join(', ')
}
