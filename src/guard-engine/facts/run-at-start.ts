import { join } from 'node:path'
import { readTextIfExists } from '../../io/directory.ts'
import { openRepository } from '../../io/git-repository.ts'
import { platform } from '../../io/host.ts'
import { isRoot } from '../../io/is-root.ts'
import { isFile } from '../../io/path-kind.ts'
import { makeExecutable, makePrivateDirectories, writePrivateFileAtomic } from '../../io/private-files.ts'
import { textInside } from '../../io/read-text-inside.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import type { DeclaredCommand, VerificationRun } from '../contract.ts'
import { planCommandSource } from '../project/command-sources.ts'
import { runVerification, type VerificationRequest } from '../run-verification.ts'
import { contentOf, differencesOf, gitTimeoutMs, pathOf, readManifest } from './tree-changes.ts'

interface StartRequest extends Pick<VerificationRequest, 'root' | 'env' | 'sandbox' | 'timeoutMs'> {
  readonly commands: readonly DeclaredCommand[]
  readonly trees: string
  readonly tree: string
  readonly startTree: string
  /** How each command is defined. */
  readonly definitions: Readonly<Record<string, string | null>>
}

/**
 * Runs commands on the files of the start, to learn which tests failed before the session. They see these files in place of the current
 * ones, in a namespace of their own: installed links and absolute paths lead there too, and nothing of it stays. Empty where that does not work.
 */
export async function runAtStart(request: StartRequest): Promise<readonly VerificationRun[]> {
  const { root, trees, tree, startTree, commands, definitions } = request
  const isHere = commands.every(({ command }) => runsHere(root, `${command}\n${definitions[command] ?? ''}`))
  if (!isHere || !mayOverlay(root)) return []
  const files = differencesOf(trees, startTree, tree)?.filter(({ path }) => path !== planCommandSource)
  const repository = await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (files === undefined || repository === null || repository.hasFilters) return []
  const fresh = files.flatMap(({ path, before }) => (before === null ? [path] : []))
  // What git ignores, or ignored then, may have been there at the start.
  if (files.some(({ path }) => /(?:^|\/)\.git(?:ignore$|\/)/.test(path))) return []
  const ignored =
    fresh.length > 0 && (await repository.run(['check-ignore', '--no-index', '--', ...fresh], { cwd: root }))
  if (ignored !== false && ignored.exitCode !== 1) return []
  const modes = new Map(readManifest(trees, startTree)?.map((line) => [pathOf(line), line.split(' ', 2)[1]]))
  using scratch = temporaryDirectory('gantry-start-')
  const old = join(scratch.path, 'files')
  makePrivateDirectories(old)
  makePrivateDirectories(join(scratch.path, 'over'))
  for (const { path, before } of files) {
    if (before === null) continue
    const content = await contentOf(before, trees, repository)
    if (content === null || modes.get(path)?.startsWith('100') !== true) return []
    writePrivateFileAtomic(join(old, path), content)
    if (modes.get(path) === '100755') makeExecutable(join(old, path), 0o755)
  }
  writePrivateFileAtomic(join(scratch.path, 'changed'), files.map(({ path }) => `${path}\0`).join(''))
  const unshare = ['/usr/bin/unshare', isRoot() ? '-m' : '-rm'] as const
  const ids = isRoot() ? '' : `${process.getuid?.()} ${process.getgid?.()}`
  const inside = (argv: readonly string[]): readonly [string, ...string[]] => [
    ...unshare,
    ...['/bin/sh', '-c', overlaid, 'sh', root, scratch.path, ids, ...argv],
  ]
  const runs = await runVerification({ ...request, inside, tree: async () => startTree })
  return isFile(join(scratch.path, 'ready')) ? runs.filter(({ notCounted }) => notCounted === undefined) : []
}

/** `$3` is the user and the group that the command has, or nothing for root. */
const overlaid = `
root=$1 at=$2 ids=$3 path=$PATH; shift 3
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t tmpfs tmpfs "$at/over" && mkdir "$at/over/u" "$at/over/w" &&
mount -t overlay overlay -o "lowerdir=$root,upperdir=$at/over/u,workdir=$at/over/w" "$root" && cd "$root" &&
xargs -0 -r rm -rf -- < "$at/changed" && cp -R "$at/files/." . && : > "$at/ready" || exit 1
export PATH="$path"
[ -n "$ids" ] || exec "$@"
exec /usr/bin/unshare --user --map-user="\${ids% *}" --map-group="\${ids#* }" -- "$@"
`

/** An overlay does not show what is mounted below its directory. */
function mayOverlay(root: string): boolean {
  const mounts = platform === 'linux' ? readTextIfExists('/proc/self/mountinfo') : null
  return mounts !== null && !mounts.includes(` ${root}/`) && !/[,:\\\s"]/.test(root)
}

/** Not by a program that may look at the files from another place: a container, a server, another machine. */
function runsHere(root: string, definition: string): boolean {
  const named = definition.match(/[\w./-]+/g) ?? []
  const scripts = [...new Set(named)].flatMap((path) => textInside(root, path, maxScriptBytes) ?? [])
  return ![definition, ...scripts].some((text) => remote.test(text))
}

const maxScriptBytes = 256 * 1024
const remote =
  /\b(?:docker|podman|nerdctl|compose|kubectl|helm|ssh|vagrant|devcontainer|gradlew?|mvnd|bazel\w*|buck2?|pants|sbt|mill|nx|turbo|dotnet|dmypy|watchman|adb|xcrun|flutter|curl|wget|unshare|bwrap|sudo)\b/
