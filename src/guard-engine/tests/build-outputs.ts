import { basename, dirname, join, relative, resolve } from 'node:path'
import type { ToolCall } from '../../core/hook-event.ts'
import { fileHash } from '../../io/content-hash.ts'
import { namesIn } from '../../io/directory.ts'
import { changedAtMs, createdAtMs, entryKind, isDirectory, isFile } from '../../io/path-kind.ts'
import { sizeOf } from '../../io/read-from.ts'
import { firstBytes } from '../../io/read-head.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { realPath } from '../../io/resolve-links.ts'
import { sha256 } from '../../io/sha256.ts'
import type { World } from '../../shell/world.ts'
import { taskFiles } from '../evidence/coverage/task-script.ts'
import { callTargets } from '../targets.ts'
import { builtAge } from './make-target.ts'

const maxText = 1024 * 1024
const maxObjects = 500
const maxDepth = 8

/**
 * Outputs of a build that a call wrote without building them, with what identifies their content. A build that looks only at times takes
 * them for its own.
 */
export function placedOutputs(
  call: ToolCall,
  where: {
    readonly cwd: string
    readonly root: string
    readonly world: World
    readonly checks: readonly string[]
    readonly sinceMs: number
  },
): Readonly<Record<string, string>> {
  const { action } = call
  const { cwd, root, world, checks, sinceMs } = where
  if (action.kind !== 'shell' || !hasBuild(root)) return {}
  const { writes, into = [], opaque } = callTargets(call, cwd, world)
  const byCode = opaque.flatMap(({ text, exact }) => (exact === true ? [resolve(cwd, text)] : []))
  const byHand = writes.filter(
    ({ how }) => !removes.test(how) && (!compiles.test(how) || !isOfTree(action.command, cwd, root)),
  )
  const paths = [
    ...[...byHand.map(({ path }) => path), ...byCode].flatMap(matching),
    ...into.flatMap(({ path }) => namesIn(path).map((name) => join(path, name))),
    ...(isBuiltOtherwise(action.command, checks) ? outputsIn(root) : []),
  ]
  const placed = [...new Set(paths)].filter(
    (path) => changedAtMs(path) >= sinceMs && isFile(path) && isOutput(root, path),
  )
  return Object.fromEntries(placed.map((path) => [path, identity(path)]))
}

/** Why a check may have run something that was not built; null when all that was placed was built anew, or is gone. */
export function placedOutput(root: string, placed: Readonly<Record<string, string>> = {}): string | null {
  const path = Object.keys(placed).find((each) => isFile(each) && identity(each) === placed[each])
  return path === undefined
    ? null
    : `\`${relative(root, path)}\` was written by a call that did not build it; remove it, build and run again`
}

/** A build with another meaning of the sources, by a variable of the call, than the checks have. */
function isBuiltOtherwise(command: string, checks: readonly string[]): boolean {
  const variables = command.match(/\b\w+=(?:"[^"]*"|'[^']*'|\S+)/g) ?? []
  return (
    /\bmake\b/.test(command) &&
    variables.some((each) => redefining.test(each) && !checks.some((check) => check.includes(each)))
  )
}

const redefining = /[=\s"']-(?:D\w|U\w|include\b|imacros\b)/

function outputsIn(root: string): readonly string[] {
  const places = [root, ...['build', 'bin', 'obj', 'out'].map((name) => join(root, name))]
  return places.flatMap((place) =>
    isDirectory(place) ? namesIn(place).map((name) => join(place, name)) : [],
  )
}

function identity(path: string): string {
  return `${fileHash(path)} ${createdAtMs(path)}`
}

/** What is there afterwards was made again by another command of the call. */
const removes = /\bremoves\b/
const compiles = /^(?:cc|c\+\+|gcc|g\+\+|clang(?:\+\+)?|rustc|ld|ar|as)\b/

/** Whether a compiler gets only sources of the project. */
function isOfTree(command: string, cwd: string, root: string): boolean {
  const sources = command
    .split(/[\s;&|()<>"'=]+/)
    .filter((word) => /\.(?:c|cc|cpp|cxx|m|s|rs|o|a)$/i.test(word))
  return (
    !/\s-x\s/.test(command) &&
    !redefining.test(command) &&
    sources.length > 0 &&
    sources.every((word) => isFile(resolve(cwd, word)) && resolve(cwd, word).startsWith(`${root}/`))
  )
}

/** The files that a written path with a pattern stands for. */
function matching(path: string): readonly string[] {
  const start = basename(path).split(/[*?[\0]/, 1)[0] ?? ''
  if (start === basename(path)) return [path]
  const directory = dirname(path)
  return namesIn(directory).flatMap((name) => (name.startsWith(start) ? [join(directory, name)] : []))
}

function hasBuild(root: string): boolean {
  return ['Cargo.toml', 'CMakeLists.txt', 'meson.build', ...taskFiles.make].some((name) =>
    isFile(join(root, name)),
  )
}

function isOutput(root: string, path: string): boolean {
  if (!path.startsWith(`${root}/`)) return false
  const inCargo =
    /\/target\/(?:[^/]+\/)?(?:debug|release)\/(?:((?:deps|build|\.fingerprint)\/).*|[^/]+)$/.exec(path)
  const name = basename(path)
  const isProgram = entryKind(path) === 'link' || isExecutable(path)
  if (inCargo !== null) return inCargo[1] !== undefined || isProgram
  for (let up = dirname(path); up.startsWith(`${root}/`); up = dirname(up))
    if (isFile(join(up, 'CMakeCache.txt')) || isFile(join(up, 'build.ninja')))
      return isProgram || generated.test(name)
  const makefile = taskFiles.make.find((each) => isFile(join(root, each)))
  const rules = makefile === undefined ? '' : (readShortText(join(root, makefile), maxText) ?? '')
  return (
    isProgram &&
    !ownScript.test(name) &&
    (/\.(?:o|a)$/.test(name) || rules.split(/[\s:=$()/]+/).includes(name)) &&
    compilerIn.test(rules)
  )
}

/** A recipe starts it, and no rule compiles it. What it does belongs to the definition of the check. */
const ownScript = /\.(?:ba)?sh$|\.(?:py|pl|rb|awk|[cm]?js|ts)$/
/** What CMake and Meson write to say how to build and test. */
const generated =
  /^(?:build\.make|link\.txt|flags\.make|.*\.ninja|\.ninja_\w+|CTest(?:Testfile|Custom)\.cmake|Makefile2?|CMakeCache\.txt)$/
const compilerIn = /\b(?:CC|CXX|LD|cc|gcc|g\+\+|clang|rustc|go build)\b|\.o\b/

function isInside(root: string, path: string): boolean {
  return `${realPath(path)}/`.startsWith(`${root}/`)
}

/** A compiled file, or a script in the place of one. */
function isExecutable(path: string): boolean {
  return /^(?:\x7fELF|!<arch>|#!|MZ|\ufffd{4})/.test(firstBytes(path, 8).toString())
}

/**
 * What a build directory of CMake says about the build, by name: programs that are put before the compiler, sources of another project, and
 * for each object which source it was made from.
 */
export function cmakeBuild(root: string, named: string): Readonly<Record<string, string>> {
  if (!/\b(?:cmake|ctest)\b/.test(named)) return {}
  const state: Record<string, string> = {}
  for (const name of namesIn(root)) {
    const build = join(root, name)
    const cache = readShortText(join(build, 'CMakeCache.txt'), maxText)
    if (cache === null) continue
    const isAsserted = testsWithAssert(build, root)
    const lines = [...(cache.match(launcherLines) ?? []), ...((isAsserted && cache.match(releaseLine)) || [])]
    const own = [named, ...presets.map((file) => readShortText(join(root, file), maxText))].join('\n')
    const isOwn = (line: string): boolean => {
      const value = line.slice(line.indexOf('=') + 1)
      return own.includes(value) || isInside(root, value)
    }
    const launchers = lines.filter(
      (line) => !/=(?:.*\/)?(?:s?ccache|distcc|icecc)?$/.test(line) && !isOwn(line),
    )
    if (launchers.length > 0) state[`${name}/CMakeCache.txt`] = launchers.join('; ')
    for (const [object, source] of objectsIn(build, root)) {
      const text = readShortText(source, maxText)
      if (text === null) continue
      const program = `${sizeOf(object)}-${createdAtMs(object)}`
      const age = builtAge(object, [source])
      state[`built ${relative(root, object)}`] = `${program} ${sha256(text).slice(0, 12)} ${age}`
    }
  }
  return state
}

/** Whether tests are asserted with what a release build leaves out. */
function testsWithAssert(build: string, root: string): boolean {
  return objectsIn(build, root).some(
    ([, source]) =>
      /test/i.test(basename(source)) &&
      /^[ \t]*#\s*include\s*<(?:assert\.h|cassert)>/m.test(readShortText(source, maxText) ?? ''),
  )
}

const releaseLine = /^CMAKE_BUILD_TYPE:\w+=(?:Rel\w*|MinSizeRel)$/m

const launcherLines =
  /^CMAKE_\w*(?:COMPILER_LAUNCHER|LINKER_LAUNCHER|CROSSCOMPILING_EMULATOR|TEST_LAUNCHER)\b.*$|^CMAKE_C(?:XX)?_FLAGS(?:_DEBUG|_INIT)?:[^=\n]*=(?:.*[\s"'])?-(?:D\s*\w|U\s*\w|include\b|imacros\b).*$|^CMAKE_PROJECT_\w*INCLUDE\w*:.*$|^CMAKE_HOME_DIRECTORY:.*$/gm
const presets = ['CMakeLists.txt', 'CMakePresets.json', 'CMakeUserPresets.json']

/** Objects with their sources: `CMakeFiles/NAME.dir/sub/x.c.o` is made from `sub/x.c`. */
function objectsIn(build: string, root: string): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = []
  const visit = (directory: string, depth: number): void => {
    for (const name of namesIn(directory)) {
      const path = join(directory, name)
      if (found.length >= maxObjects) return
      const [, below, source] =
        /^(.*?)\/CMakeFiles\/[^/]+\.dir\/(.+)\.o(?:bj)?$/.exec(path.slice(build.length)) ?? []
      if (source !== undefined) found.push([path, join(root, below ?? '', source)])
      else if (depth < maxDepth && entryKind(path) === 'directory') visit(path, depth + 1)
    }
  }
  visit(build, 0)
  return found
}
