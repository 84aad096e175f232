import { join } from 'node:path'
import { stringify } from 'yaml'
import { parseObject } from '../core/json-fields.ts'
import { kindOfCommand } from '../core/kind-of-command.ts'
import type { DeclaredCommand } from '../guard-engine/contract.ts'
import { walkTree } from '../guard-engine/project/list-tree.ts'
import { readProjectFacts } from '../guard-engine/project/read-project-facts.ts'
import { pythonTest } from '../guard-engine/project/toolchains.ts'
import { defaultSettings } from '../guard-engine/settings/settings.ts'
import { directoriesIn, namesIn, readTextIfExists } from '../io/directory.ts'
import { isFile } from '../io/path-kind.ts'
import { buildsBefore } from './diagnose.ts'
import { installsFor, requirements } from './installs-for.ts'

const maxSteps = 6

/** By keywords of the detected toolchains; the first match wins. */
const images: readonly (readonly [RegExp, string])[] = [
  [/^Node\.js/, 'node:24'],
  [/^Python|^Ruff/, 'python:3.13'],
  [/^Go$|^golangci/, 'golang:1.25'],
  [/^Rust$/, 'rust:1'],
  [/^Gradle$|^Maven$/, 'eclipse-temurin:21'],
  [/^gradle$/, 'gradle:8-jdk21'],
  [/^mvn$/, 'maven:3-eclipse-temurin-21'],
  [/^Ruby$/, 'ruby:3.4'],
  [/^PHP$/, 'php:8.4'],
  [/^\.NET$/, 'mcr.microsoft.com/dotnet/sdk:9.0'],
  [/^Deno$/, 'denoland/deno:2'],
  [/^Elixir$/, 'elixir:1.18'],
  [/^Swift$/, 'swift:6'],
  [/^CMake$|^Meson$|^make$/, 'gcc:14'],
]

export interface Proposed {
  readonly image: string
  /** Installs what the steps need. */
  readonly setup: readonly ProposedStep[]
  /** The commands that were found; may be empty. */
  readonly steps: readonly ProposedStep[]
}

export interface ProposedStep {
  /** `install`, `build`, `test`, …: its name. */
  readonly kind: string
  readonly command: string
  /** The file that contains it, or asks for it. */
  readonly source: string
  /** A person wrote it down as a check of this project. */
  readonly explicit?: boolean
  readonly network?: 'allow'
}

/** The image, the installation and the verification commands of a repository, in order, based on its files. */
export async function proposeAgentFile(repository: string, image?: string): Promise<Proposed> {
  const toolchains: string[] = []
  const found: ProposedStep[] = []
  const setup: ProposedStep[] = []
  for (const under of ['.', ...directoriesIn(repository).filter((name) => !notAProject.test(name))]) {
    const place = join(repository, under)
    const facts = await readProjectFacts(place, defaultSettings, { entries: false })
    const own = (facts.toolchains ?? []).filter((name) => !toolchains.includes(name))
    const ofNode = [workspaceTests(place), nodeTests(place)].find(({ length }) => length > 0) ?? []
    const usual = facts.commands.some(isTest) ? [] : [...ofNode, ...pythonTests(place)]
    const commands = [...usual, ...facts.commands]
    if (usual.some(({ command }) => command === pytest)) own.push('Python')
    // What the root has covers the directories below it.
    if (under !== '.' && (own.length === 0 || commands.length === 0)) continue
    const at = (name: string): string => (under === '.' ? name : `${under}/${name}`)
    const inside = (command: string): string => (under === '.' ? command : `cd ${under} && ${command}`)
    for (const { command, kind, source, explicit } of commands) {
      const build = explicit ? undefined : buildsBefore[program(command)]
      if (build !== undefined) found.push({ command: inside(build), kind: 'build', source: at(source) })
      found.push({ command: inside(command), kind, source: at(source), explicit })
    }
    toolchains.push(...own)
    setup.push(...installsFor(repository, under))
  }
  // Where the workflows name the directory of the build, it is not guessed.
  const sure = found.filter(({ command, explicit }) => explicit || !isGuess(command))
  const isPlaced = ciCommands(repository, sure).some(({ command }) => namesBuild.test(command))
  const local = isPlaced ? sure : found
  const ci = ciCommands(repository, local)
  const isBuild = ({ kind }: ProposedStep): boolean => kind === 'build'
  const known = [...ci.filter(isBuild), ...local, ...ci.filter((each) => !isBuild(each))]
  // A build is better than nothing.
  const make = toolchains.includes('make') ? [{ command: 'make', kind: 'build', source: 'Makefile' }] : []
  const steps = (known.length === 0 ? make : known).slice(0, maxSteps)
  return { image: image ?? imageFor(toolchains, steps), setup: steps.length === 0 ? [] : setup, steps }
}

const isTest = ({ kind }: Pick<ProposedStep, 'kind'>): boolean => kind === 'test'

const program = (command: string): string => command.split(' ', 1)[0] ?? ''

function isGuess(command: string): boolean {
  return buildsBefore[program(command)] !== undefined || Object.values(buildsBefore).includes(command)
}

const namesBuild = /^ctest .*--(?:preset|test-dir)\b|^meson test .*-C\b/

const notAProject =
  /^(?:\.|node_modules$|vendor$|third[_-]?party$|examples?$|docs?$|tests?$|fixtures$|scripts$|build$|dist$|target$|v?env$)/

/** Tests of the packages of a workspace whose root has none. */
function workspaceTests(place: string): readonly DeclaredCommand[] {
  const { workspaces } = parseObject(readTextIfExists(join(place, 'package.json')) ?? '') ?? {}
  const all = [
    ['pnpm-workspace.yaml', 'pnpm -r test'],
    ['yarn.lock', 'yarn workspaces run test'],
    ['bun.lock', "bun --filter '*' test"],
    ['package.json', 'npm test --workspaces --if-present'],
  ] as const
  const [source, command] = all.find(([name]) => isFile(join(place, name))) ?? []
  const isWorkspace = source === 'pnpm-workspace.yaml' || workspaces !== undefined
  return command !== undefined && isWorkspace ? [{ command, source, kind: 'test', explicit: false }] : []
}

const pytest = 'pytest'

/** pytest also runs the tests of unittest, so it is worth a try where no file names a runner. */
function pythonTests(place: string): readonly DeclaredCommand[] {
  const source = ['setup.py', 'pyproject.toml', ...requirements].find((name) => isFile(join(place, name)))
  const isTested = (): boolean => [...walkTree(place, 3).known].some((path) => pythonTest.test(path))
  return source === undefined || !isTested()
    ? []
    : [{ command: pytest, source, kind: 'test', explicit: false }]
}

/** The runner of Node needs no script of package.json. */
function nodeTests(place: string): readonly DeclaredCommand[] {
  const usesRunner = (path: string): boolean =>
    /^tests?\/.*\.[cm]?js$|[._-]test\.[cm]?js$/.test(path) &&
    /['"]node:test['"]/.test(readTextIfExists(join(place, path)) ?? '')
  return isFile(join(place, 'package.json')) && [...walkTree(place, 3).known].some(usesRunner)
    ? [{ command: 'node --test', source: 'package.json', kind: 'test', explicit: false }]
    : []
}

const maxFromCi = 3

/** What CI reads: files, and directories of files. */
export const ciPlaces = [
  ...['.github/workflows', '.circleci', '.buildkite', '.woodpecker', '.gitlab-ci.yml', '.gitlab-ci.yaml'],
  ...['azure-pipelines.yml', 'bitbucket-pipelines.yml', '.travis.yml', '.drone.yml', '.woodpecker.yml'],
  'Jenkinsfile',
]
/** A line of shell as an item of a list, a line of a block, or behind the key that runs it. Jenkins has `sh` before a quoted line. */
const ciLine =
  /^[ \t]*(?:- )?(?:(?:run|script|bash|commands?):[ \t]*|sh[ \t(]+(?=['"]))?(['"]?)(\w[\w ./:=@-]*)\1\)?$/gm

/** Builds and lint of the workflows, and their tests where none are known. Single lines that need nothing else. */
function ciCommands(repository: string, known: readonly ProposedStep[]): readonly ProposedStep[] {
  const start = (command: string): string => command.replace(' run ', ' ').split(/\s+/, 2).join(' ')
  const starts = new Set(known.map(({ command }) => start(command)))
  const files = ciPlaces.flatMap((place) =>
    isFile(join(repository, place))
      ? [place]
      : namesIn(join(repository, place)).flatMap((name) =>
          /\.ya?ml$/i.test(name) ? [`${place}/${name}`] : [],
        ),
  )
  const found = files.flatMap((source) => {
    // A release builds what steps without a network cannot.
    const isRelease = /publish|release|deploy/i.test(source)
    const text = isRelease ? '' : (readTextIfExists(join(repository, source)) ?? '')
    return [...text.matchAll(ciLine)].flatMap(([, , line = '']) => {
      const command = line.trim()
      const kind = kindOfCommand(command.replace(/^sh (?=\w)/, ''))
      const isWanted = kind === 'build' || kind === 'lint' || (kind === 'test' && !known.some(isTest))
      if (
        !isWanted ||
        starts.has(start(command)) ||
        /^docker|^cargo .* -Z|: |:fix\b| --(?:fix|write)\b| (?:--version|-v?V)$/.test(command)
      )
        return []
      starts.add(start(command))
      return [{ command, kind, source }]
    })
  })
  return found.slice(0, maxFromCi)
}

/** The text of agent.yaml. */
export function agentFileText({ image, setup, steps }: Proposed): string {
  const placeholder = {
    name: 'test',
    command: 'echo "write the command that verifies this project" && exit 1',
  }
  const verification = {
    ...{ container_image: image, workspace: 'overlay', network: 'none' },
    ...(setup.length > 0 && { setup: named(setup) }),
    steps: steps.length === 0 ? [placeholder] : named(steps),
  }
  return `# How this repository is verified: gantry verify runs the steps in a sandbox, in order, and stops at the first that fails.
# Setup installs what they need, with the network, and runs again when a lock file changes. Steps have no network.
# What they write to the directory is thrown away (workspace: overlay).
${stringify({ verification, timeouts: { verification_step: 300_000 } }, { lineWidth: 0 })}`
}

/** `test`, `lint`, …; a second one of the same kind gets a number. */
function named(all: readonly ProposedStep[]) {
  return all.map(({ kind, command, network }, index) => {
    const before = all.slice(0, index).filter((other) => other.kind === kind).length
    const name = `${kind === 'other' ? 'check' : kind}${before === 0 ? '' : ` ${before + 1}`}`
    return { name, command, ...(network && { network }) }
  })
}

function imageFor(toolchains: readonly string[], steps: readonly ProposedStep[]): string {
  const started = steps.map(({ command }) => program(command.replace(/^cd \S+ && /, '')))
  // A wrapper of the repository needs only Java.
  const own: Readonly<Record<string, string>> = { Gradle: 'gradle', Maven: 'mvn' }
  const of = (toolchain: string) => {
    const name = started.find((each) => each === own[toolchain]) ?? toolchain
    return images.find(([pattern]) => pattern.test(name))?.[1]
  }
  return toolchains.map(of).find((image) => image !== undefined) ?? 'debian:stable'
}
