import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { proposeAgentFile } from './propose-agent-file.ts'

test('lines of CI that print a version, change files, publish, need a nightly Rust, or repeat a script of package.json are not proposed', async () => {
  await using fixture = await createFixture({
    'package.json': JSON.stringify({ scripts: { test: 'vitest', lint: 'eslint .' } }),
    '.github/workflows/ci.yml': [
      'npx tsc --version',
      'npm lint',
      'rustc -vV',
      'npm run style:fix',
      'npx tsc -p .',
      'cargo build -Z avoid-dev-deps',
    ]
      .map((line) => `      - run: ${line}\n`)
      .join(''),
    '.github/workflows/publish.yaml': '      - run: uv build\n',
  })
  const { steps } = await proposeAgentFile(fixture.path)
  expect(steps.map(({ command }) => command)).toEqual(['npx tsc -p .', 'npm test', 'npm run lint'])
})

test('a Makefile without a test is built', async () => {
  await using fixture = await createFixture({ Makefile: 'all: program\n\nprogram:\n\tcc program.c\n' })
  expect(await proposeAgentFile(fixture.path)).toMatchObject({ steps: [{ command: 'make', kind: 'build' }] })
})

const proposals: Record<string, readonly [files: Record<string, string>, commands: readonly string[]]> = {
  'tests that only Bun runs': [{ 'package.json': '{}', 'bun.lock': '', 'src/a.test.ts': '' }, ['bun test']],
  'tests of the runner of Node without a script': [
    { 'package.json': '{}', 'test/a.js': "import test from 'node:test'\n" },
    ['node --test'],
  ],
  'tests of packages, once': [
    {
      'package.json': '{}',
      'pnpm-workspace.yaml': 'packages: [p]\n',
      'p/test/a.js': "import test from 'node:test'\n",
    },
    ['pnpm -r test'],
  ],
  'tests of another runner without a script': [{ 'package.json': '{}', 'test/a.js': "describe('a')\n" }, []],
  'pytest as a dependency': [{ 'requirements-dev.txt': 'pytest\n', 'a/test_a.py': '' }, ['pytest']],
  'Python tests without a runner': [
    { 'setup.py': 'setup()', 'a/tests/test_a.py': 'import unittest\n' },
    ['pytest'],
  ],
  'a list of packages without tests': [{ 'requirements.txt': 'six\n', 'test/run.sh': '' }, []],
  'the presets of CMake that the workflow uses': [
    {
      'CMakeLists.txt': 'enable_testing()\n',
      '.github/workflows/ci.yml':
        '- run: cmake --preset dev\n- run: cmake --build --preset dev\n- run: ctest --preset dev\n',
    },
    ['cmake --preset dev', 'cmake --build --preset dev', 'ctest --preset dev'],
  ],
  'a script that sh runs, which need not be executable': [
    { '.gitlab-ci.yml': 'build:\n  script:\n    - sh tools/gradlew check\n' },
    ['sh tools/gradlew check'],
  ],
  'a workflow whose directory is unknown': [
    { 'CMakeLists.txt': 'enable_testing()\n', '.github/workflows/ci.yml': '- run: ctest -V\n' },
    ['cmake -S . -B build && cmake --build build', 'ctest --test-dir build'],
  ],
}

const ciFiles: Record<string, string> = {
  '.gitlab-ci.yml':
    'check:\n  image: node:24\n  script:\n    - npm ci\n    - npx eslint .\n    - "npm test"\n',
  '.circleci/config.yml':
    'jobs:\n  check:\n    steps:\n      - checkout\n      - run: npx eslint .\n      - run:\n          name: Test\n          command: npm test\n',
  'azure-pipelines.yml': 'steps:\n  - script: npx eslint .\n    displayName: Lint\n  - bash: npm test\n',
  'bitbucket-pipelines.yml':
    'pipelines:\n  default:\n    - step:\n        script:\n          - npx eslint .\n          - npm test\n',
  '.buildkite/pipeline.yml': "steps:\n  - command: 'npx eslint .'\n  - commands:\n      - npm test\n",
  '.travis.yml': 'language: node_js\nscript:\n  - npx eslint .\n  - npm test\n',
  Jenkinsfile:
    "pipeline {\n  stages {\n    stage('Check') {\n      steps {\n        sh 'npx eslint .'\n        sh(\"npm test\")\n      }\n    }\n  }\n}\n",
}

test.each(Object.entries(ciFiles))('the steps of CI are read from %s', async (path, text) => {
  await using fixture = await createFixture({ [path]: text })
  const { steps } = await proposeAgentFile(fixture.path)
  expect(steps).toMatchObject([
    { command: 'npx eslint .', source: path },
    { command: 'npm test', source: path },
  ])
})

test.each(Object.entries(proposals))('is proposed: %s', async (_, [files, commands]) => {
  await using fixture = await createFixture(files)
  const { steps, image } = await proposeAgentFile(fixture.path)
  expect(steps.map(({ command }) => command)).toEqual(commands)
  if (commands[0] === 'pytest') expect(image).toBe('python:3.13')
})

test.each([
  [['pom.xml'], 'maven:3-eclipse-temurin-21'],
  [['pom.xml', 'mvnw'], 'eclipse-temurin:21'],
  [['app/pom.xml'], 'maven:3-eclipse-temurin-21'],
  [['build.gradle'], 'gradle:8-jdk21'],
  [['build.gradle', 'gradlew'], 'eclipse-temurin:21'],
])('the image of %j has the program that the steps start: %s', async (names, image) => {
  await using fixture = await createFixture(Object.fromEntries(names.map((name) => [name, 'x'])))
  expect((await proposeAgentFile(fixture.path)).image).toBe(image)
})
