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
 * The first lines of a launcher. The kernel starts Perl, which asks the helper and prints its answer. Whatever is unexpected starts Node with
 * the same payload: no helper, a helper that is silent, an answer that is not whole or lacks the secret. To Node these lines are a comment.
 * null when a path would end that comment.
 *
 * A file that only this user can read and write names the socket and two secrets: one that the helper expects, one that proves its answer.
 */
export function askHelper({ node, hookBin, agent, blocking }: HookCommandLine): string | null {
  if ([node, hookBin].some((path) => path.includes('*/') || path.includes('\n'))) return null
  const settings = [node, hookBin, agent, helperVariables, String(maxAskedBytes), ...blocking]
  return `#!${perl}
//; <<'*';
/*
*
# Node: ${JSON.stringify(node)}
my ($node, $bin, $agent, $variables, $maxBytes, @blocking) = (${settings.map(quoted).join(', ')});
${textBeside(import.meta.url, './ask-helper.pl')}*/`
}

/** As a string of Perl. */
function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
