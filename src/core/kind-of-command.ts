import type { EvidenceKind } from './evidence.ts'

/** What a command's success would prove, by its words. For a chain the strongest: tests, then a build, then lint. */
export function kindOfCommand(command: string): EvidenceKind {
  const kinds = new Set(command.split(/&&|\|\||[;|\n]/).map((part) => kindOfPart(part.trim())))
  const order: readonly EvidenceKind[] = ['test', 'build', 'lint']
  return order.find((kind) => kinds.has(kind)) ?? 'other'
}

function kindOfPart(part: string): EvidenceKind {
  const bare = part
    .replace(/^(?:[A-Za-z_]\w*=\S*\s+)+/, '')
    .replace(runner, '')
    .replace(/^node\s+--run[\s=]/, 'npm run ')
  const [program = '', ...rest] = bare.split(/\s+/)
  const name = program.replace(/^.*[\\/]/, '').replace(/\.(?:exe|cmd|bat)$/i, '')
  const line = [name, ...rest].join(' ')
  if (tests.some((pattern) => pattern.test(line))) return 'test'
  if (lints.some((pattern) => pattern.test(line))) return 'lint'
  if (builds.some((pattern) => pattern.test(line))) return 'build'
  return 'other'
}

/** Programs that only start another one. */
const runner =
  /^(?:(?:npx|bunx|pnpx)\s+(?:--?[a-z-]+\s+)*|(?:pnpm|yarn|npm)\s+(?:exec|dlx)\s+(?:--\s+)?|(?:uv|poetry|pipenv|pdm|hatch|rye)\s+run\s+|bundle\s+exec\s+|python[\d.]*\s+-m\s+|py\s+-m\s+|timeout\s+\S+\s+|time\s+|env\s+(?:[A-Za-z_]\w*=\S*\s+)*)+/

/** A script of a package manager, or a target of a program that runs tasks. */
const task = (names: string): RegExp =>
  new RegExp(
    String.raw`^(?:(?:npm|pnpm|yarn|bun|deno|composer|turbo|nx|lerna|rake|rails|just|task|g?make|ninja|gradlew?|hatch|nox|invoke|inv)\s+(?:(?:run|run-script|task|-s|-r|--silent|--recursive|recursive|workspace\s+\S+|-[CFw]\s+\S+|--(?:prefix|filter|dir|cwd)(?:=|\s+)\S+|--workspaces?(?:=\S+)?)\s+)*)(?:${names})(?:$|\s)`,
  )

const tests: readonly RegExp[] = [
  /^(?:pytest|py\.test|jest|vitest|mocha|ava|tap|tape|c8|nyc|karma|jasmine|phpunit|pest|rspec|minitest|ctest|bats|prove|tox|nox|nose2?|unittest|behave|gotestsum|ginkgo|cypress|testcafe|paratest|codecept|lua-busted|busted|nextest|cargo-nextest)(?:$|\s)/,
  /^(?:go|cargo|deno|bun|mix|dotnet|swift|flutter|dart|bazel|buck2?|meson|playwright|stack|cabal|dune|sbt|lein|rebar3|forge|hardhat|truffle|xcodebuild|zig|crystal|nimble|rails|ng|artisan)\s(?:.*\s)?(?:test|nextest|eunit|spec)(?:$|\s|:)/,
  /^node\s(?:.*\s)?--test(?:$|\s|=)/,
  /^(?:python[\d.]*\s+(?:-\S+\s+)*)?(?:\S*\/)?manage\.py\s+test(?:$|\s)/,
  // A test file that is run itself.
  /^(?:python[\d.]*|node|tsx|ruby|perl|php)\s+(?:-[\w-]+\s+)*(?:[\w./-]*\/)?(?:run[_-])?(?:test_\w+|\w+[._-]tests?|tests?)\.(?:py|[cm]?[jt]s|rb|php|pl)(?:\s+-\S+)*$/,
  /^(?:mvnw?|gradlew?|sbt)\s(?:.*\s)?(?:test|verify|check|integration-test)(?:$|\s)/,
  /^(?:npm|pnpm|yarn)\s+(?:-\S+\s+)*(?:t|tst)(?:$|\s)/,
  /^(?:g?make|ninja)\s+(?:(?:-C\s+\S+|-\S+)\s+)*(?:check|tests|distcheck)(?:$|\s)/,
  task(String.raw`tests?(?:[:_-]\S+)?|\S+[:_-]tests?|spec|e2e|coverage|unit`),
]

const lints: readonly RegExp[] = [
  /^(?:ruff|eslint|flake8|pylint|golangci-lint|mypy|pyright|basedpyright|shellcheck|stylelint|rubocop|standardrb|phpstan|psalm|phpcs|ktlint|detekt|swiftlint|staticcheck|revive|hadolint|yamllint|markdownlint(?:-cli2)?|knip|oxlint|standard|xo|credo|dialyzer|pre-commit|bandit|pyflakes|pycodestyle|pydocstyle|vulture|tflint|actionlint|cpplint|clang-tidy|clippy-driver|cargo-clippy|luacheck|vue-tsc|lint-staged|djlint|ansible-lint|sqlfluff|buf|clippy|gofmt|gofumpt|textlint|cspell|depcheck|dprint)(?:$|\s)/,
  /^biome\s+(?:check|lint|ci|format)(?:$|\s)/,
  /^(?:prettier|black|isort|autopep8|yapf|clang-format|rustfmt)\s(?:.*\s)?(?:--check\S*|-c|-l|--list-different|--diff|--dry-run)(?:$|\s)/,
  /^cargo\s+(?:\+\S+\s+)?(?:clippy|fmt|deny|audit)(?:$|\s)/,
  /^go\s+vet(?:$|\s)/,
  /^(?:deno|dart|flutter|mix|ng)\s+(?:lint|fmt|check|analyze|format|credo|dialyzer)(?:$|\s)/,
  /^dotnet\s+format(?:$|\s)/,
  /^tsc\s(?:.*\s)?--noEmit(?:$|\s)/,
  task(
    String.raw`(?:eslint|lint|typecheck|type-check|check-types|check-format|format|fmt|prettier|types|tsc|style|clippy|ruff|mypy|stylelint)(?:[:_-]\S+)?|(?:check|verify)[:_-](?:types|format|lint|style)|\S+[:_-]lint`,
  ),
]

const builds: readonly RegExp[] = [
  /^(?:tsc|tsup|tsdown|webpack|rollup|esbuild|rolldown|cmake|ninja|msbuild|javac|gcc|g\+\+|clang|rustc)(?:$|\s)/,
  /^(?:vite|next|nuxt|astro|docker|swift|zig|dotnet|go|cargo|mix|flutter|ng|hugo|poetry|uv|hatch|parcel|remix|svelte-kit|stack|cabal|dune|bazel|forge)\s+(?:build|compile|check|publish|package)(?:$|\s)/,
  /^(?:mvnw?|gradlew?|sbt)\s(?:.*\s)?(?:package|compile|install|assemble|build)(?:$|\s)/,
  /^g?make(?:\s+-\S+)*(?:\s+(?:all|install))?$/,
  task(String.raw`(?:build|compile|bundle|dist|package)(?:[:_-]\S+)?`),
]
