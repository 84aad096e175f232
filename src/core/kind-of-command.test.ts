import { expect, test } from 'vitest'
import { kindOfCommand } from './kind-of-command.ts'

test.each([
  ['test', ['pytest', 'npm test', 'npm run test', 'go test', 'jest', 'vitest', 'cargo test', 'make test']],
  ['test', ['pytest tests/', 'python -m pytest -q', 'uv run pytest', 'npx jest --ci', 'npm t', 'yarn test']],
  ['test', ['go test ./...', 'node --test', 'deno test -A', 'bun test', 'dotnet test', 'mvn -q verify']],
  ['test', ['bundle exec rspec', './gradlew check', 'vendor/bin/phpunit', 'npm run test:unit', 'make check']],
  ['test', ['python3 -m unittest', 'CI=1 npm test', 'npm run lint && npm test', 'npm run build && ctest']],
  [
    'test',
    ['pnpm -r test', 'npx playwright test', 'mix test', 'tox -e py312', 'cargo nextest run', 'just test'],
  ],
  ['lint', ['ruff', 'eslint', 'flake8', 'pylint', 'npm run lint', 'cargo clippy', 'clippy', 'golangci-lint']],
  [
    'lint',
    ['ruff check .', 'npx eslint src', 'go vet ./...', 'tsc --noEmit', 'npx tsc -p . --noEmit', 'mypy .'],
  ],
  ['lint', ['prettier --check .', 'npm run typecheck', 'biome check', 'make lint', 'cargo fmt --check']],
  ['build', ['npm run build', 'cargo build', 'go build ./...', 'make', 'make -j4', 'tsc', 'vite build']],
  ['other', ['npm run check', './verify.sh', 'echo pytest', 'git diff', 'cat test.txt', 'npm start', '']],
] as const)('%s: %j', (kind, commands) => {
  for (const command of commands) expect([command, kindOfCommand(command)]).toEqual([command, kind])
})
