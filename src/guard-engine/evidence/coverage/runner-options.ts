/**
 * How the options of one runner change what it checks. A name that ends in `=` takes a value, in `?` perhaps; `name=value` is
 * meant with this value only. */
export interface RunnerOptions {
  /** They change the look, the speed or the order of a green run, never what it checks. */
  readonly look: string
  /** They leave a part of the check out, or run nothing. */
  readonly less: string
  /** They add to the check. */
  readonly more?: string
  /** What its other words are; `files` when absent. */
  readonly operands?: OperandKind
  /** Without operands it checks a default place, not everything. */
  readonly narrowByDefault?: true
}

/** `places` are paths that contain nothing of each other, such as directories of builds. */
export type OperandKind = 'files' | 'places' | 'filters' | 'packages' | 'none'

/** One line per runner, by the words that start it. Options in no list make a run another command. */
export function runnerOptions(): Readonly<Record<string, RunnerOptions>> {
  table ??= describeRunners()
  return table
}

let table: Readonly<Record<string, RunnerOptions>> | undefined

const jsLook =
  '--coverage --no-coverage --coverage.enabled --coverageReporters= --coverage.reporter= --coverageDirectory= --coverage.provider= --silent --verbose --colors --color --no-color --bail --bail= --bail=1 --bail=3 --bail=5 --no-bail --ci --json --outputFile= --reporter= --reporters= --watch=false --watchAll=false --no-watch --passWithNoTests --detectOpenHandles --logHeapUsage --no-cache --maxWorkers= --minWorkers= --testTimeout= --retry='

function describeRunners(): Readonly<Record<string, RunnerOptions>> {
  const mypy = {
    look: '--pretty --no-color-output --show-error-codes --show-column-numbers --show-error-context --no-incremental --cache-dir= --no-error-summary --sqlite-cache -v --verbose --junit-xml=',
    less: '--ignore-missing-imports --exclude= --follow-imports= --skip-version-check -m= -p= -c= --config-file= --disable-error-code=',
    more: '--strict --warn-unused-ignores --disallow-untyped-defs --check-untyped-defs',
    narrowByDefault: true,
  } as const
  return {
    pytest: {
      look: '-q --quiet -v --verbose --verbosity= -s --capture= -x --exitfirst --maxfail= -l --showlocals -r= --tb= --color= --code-highlight= --durations= --durations-min= -n= --numprocesses= --maxprocesses= --dist= -W= --pythonwarnings= --disable-warnings --disable-pytest-warnings --no-header --no-summary --full-trace --show-capture= --log-cli-level= --log-level= --log-file= --log-cli-format= --junitxml= --junit-xml= --html= --self-contained-html --report-log= --json-report --json-report-file= --cache-clear --ff --failed-first --nf --new-first --strict --strict-markers --strict-config --timeout= --timeout-method= --no-cov --cov? --cov-report= --cov-branch --cov-config= --cov-append --cov-context= --no-cov-on-fail --reuse-db --create-db --nomigrations --no-migrations --import-mode= --asyncio-mode= --basetemp= --setup-show --pdb --reruns= --reruns-delay= --random-order --random-order-seed= --randomly-seed= -vv -vvv -vvvv -qq -ra -rA -rs -rf -rfE -rsx -rxXs --instafail --benchmark-skip --benchmark-disable --forked --benchmark-autosave --ignore-unknown-dependency -p=no:cacheprovider --rootdir=. -p=no:randomly -p=no:warnings -p=no:sugar -p=no:xdist -p=xdist -p=pytest_cov -p=no:pastebin -o=log_cli=true --override-ini=log_cli=true -o=log_cli=True --override-ini=log_cli=True -o=log_cli=1 --override-ini=log_cli=1 -o=log_cli=false --override-ini=log_cli=false -o=log_cli_level=DEBUG --override-ini=log_cli_level=DEBUG -o=log_cli_level=INFO --override-ini=log_cli_level=INFO -o=log_cli_level=WARNING --override-ini=log_cli_level=WARNING -o=log_level=DEBUG --override-ini=log_level=DEBUG -o=log_level=INFO --override-ini=log_level=INFO -o=console_output_style=classic --override-ini=console_output_style=classic -o=console_output_style=progress --override-ini=console_output_style=progress -o=console_output_style=count --override-ini=console_output_style=count -o=junit_family=xunit2 --override-ini=junit_family=xunit2 -o=verbosity_assertions=2 --override-ini=verbosity_assertions=2',
      less: '-k= -m= --deselect= --ignore= --ignore-glob= --lf --last-failed --sw --stepwise --sw-skip --stepwise-skip --co --collect-only --collectonly --setup-only --setup-plan --fixtures --fixtures-per-test --markers --version -V -h --help -c= --config-file= --rootdir= -o= --override-ini= --confcutdir= --noconftest --pyargs --snapshot-update --inline-snapshot= --testmon --picked --no-testmon --trace-config --runxfail= --cache-show --collect-in-virtualenv= -p= --exitzero --suppress-no-test-exit-code --suppress-tests-failed-exit-code',
      more: '--runslow --run-slow --runxfail --doctest-modules --doctest-glob= --cov-fail-under= --slow --integration --flake8 --mypy --ruff --black',
    },
    unittest: {
      look: '-v --verbose -q --quiet -f --failfast -b --buffer -c --catch --locals --durations= -t= --top-level-directory=',
      less: '-k= -p= --pattern= -h --help',
      operands: 'files',
    },
    vitest: {
      look: `${jsLook} --run --globals --environment= --pool= --threads --no-threads --no-file-parallelism --fileParallelism= --disable-console-intercept --hideSkippedTests --dangerouslyIgnoreUnhandledErrors=false --sequence.shuffle --sequence.seed= --testTimeout= --hookTimeout= --no-isolate --isolate --clearScreen= --poolOptions.threads.singleThread --poolOptions.forks.singleFork --slowTestThreshold= --inspect --expandSnapshotDiff --no-api --ui=false`,
      less: '-t= --testNamePattern= --project= --dir= --root= -r= --config= -c= --changed --changed= --related --shard= --exclude= -u --update --mode= -w --watch --standalone --tagsFilter= --allowOnly -h --help -v --version --dangerouslyIgnoreUnhandledErrors',
      more: '--typecheck --coverage.thresholds.lines= --coverage.thresholds.100',
      operands: 'filters',
    },
    jest: {
      look: `${jsLook} -i --runInBand --forceExit --errorOnDeprecation --randomize --showSeed --seed= --useStderr --expand --no-watchman --noStackTrace --workerIdleMemoryLimit= --openHandlesTimeout= --workerThreads --cache -b --no-colors --maxConcurrency= --collectCoverage --waitForUnhandledRejections -w=`,
      less: '-t= --testNamePattern= --testPathPattern= --testPathPatterns= --testPathIgnorePatterns= -o --onlyChanged --changedSince= --lastCommit --findRelatedTests --shard= --selectProjects --ignoreProjects -f --onlyFailures --listTests --showConfig --roots= --rootDir= --config= -c= --projects= --env= -u --updateSnapshot --watch --watchAll --runTestsByPath --filter= --testMatch= --testRegex= --modulePathIgnorePatterns= --coverageThreshold= --testSequencer= --init -h --help -v --version --clearCache',
      operands: 'filters',
    },
    mocha: {
      look: '--reporter= -R= --timeout= -t= --exit --bail -b --parallel -p --jobs= -j= --color --colors -c --no-color --full-trace --slow= -s= --retries= --check-leaks --forbid-only --forbid-pending --diff --no-diff --inline-diffs --reporter-option= -O=',
      less: '--grep= -g= --fgrep= -f= --invert -i --exclude= --ignore= --config= --package= --no-config --no-package --dry-run --file= --watch -w -h --help -V --version --allow-uncaught --pass-on-failing-test-suite',
      more: '--recursive',
      narrowByDefault: true,
    },
    ava: {
      look: '--verbose -v --tap -t --fail-fast --serial -s --color --no-color --timeout= -T= --concurrency= -c= --no-cache --node-arguments=',
      less: '--match= -m= --update-snapshots -u --watch -w --config= --help --version',
      operands: 'filters',
    },
    'node --test': {
      look: '--test --test-reporter= --test-reporter-destination= --test-concurrency= --test-timeout= --test-force-exit --experimental-test-coverage --no-warnings --enable-source-maps --trace-warnings --test-isolation= --experimental-strip-types --test-coverage-include= --test-coverage-exclude=',
      less: '--test-name-pattern= --test-skip-pattern= --test-only --test-shard= --watch --test-update-snapshots --import= --require= -r= --loader= --experimental-loader= -e= -p= --check -c',
    },
    playwright: {
      look: '--reporter= --workers= -j= --retries= --quiet --timeout= --global-timeout= --max-failures= -x --output= --trace= --forbid-only --fully-parallel --headed',
      less: '--grep= -g= --grep-invert= -gv= --project= --shard= --last-failed --only-changed --list --config= -c= --update-snapshots -u --ui --pass-with-no-tests --no-deps --debug',
      operands: 'filters',
    },
    'bun test': {
      look: '--coverage --coverage-reporter= --coverage-dir= --bail= --bail --timeout= --rerun-each= --reporter= --reporter-outfile= --silent --smol --randomize --seed= --no-install --only-failures --concurrent',
      less: '-t= --test-name-pattern= --only --todo --update-snapshots -u --preload= -r= --cwd= --config= -c= --watch --hot --pass-with-no-tests',
      operands: 'filters',
    },
    'deno test': {
      look: '-A --allow-all --allow-read --allow-write --allow-net --allow-env --allow-run --allow-sys --allow-ffi --allow-import -q --quiet --parallel --fail-fast --coverage --coverage= --reporter= --junit-path= --shuffle --trace-leaks --unstable --unstable-kv --frozen -P',
      less: '--filter= --ignore= --no-run --permit-no-files --config= -c= --no-config --watch --no-check --cert=',
      more: '--doc --check',
    },
    'go test': {
      look: '-v -race -count= -cover -coverprofile= -covermode= -coverpkg= -timeout= -parallel= -p= -failfast -json -shuffle= -cpu= -benchmem -trimpath -mod= -x -work -a -buildvcs= -outputdir= -cpuprofile= -memprofile= -fullpath -vet=all -ldflags= -gcflags=all=-l',
      less: '-run= -skip= -short -list= -c -n -exec= -i -tags= -vet= -toolexec= -overlay= -modfile= -C= -testify.m= -test.run= -ginkgo.focus= -args -o= -fuzz= -update',
      more: '-bench=',
      operands: 'packages',
    },
    'go vet': { look: '-v -json -mod=', less: '-vettool= -tags= -n', operands: 'packages' },
    'cargo test': {
      look: '-v -vv --verbose -q --quiet --no-fail-fast --fail-fast --locked --frozen --offline --release -r -j= --jobs= --color= --message-format= --target-dir= --profile= --timings --keep-going --future-incompat-report --nocapture --no-capture --show-output --test-threads= --format= --report-time -Z=unstable-options --manifest-path=Cargo.toml --manifest-path=./Cargo.toml',
      less: '-p= --package= --lib --bins --bin= --test= --tests --examples --example= --benches --bench= --all-targets --doc --exclude= --no-run --no-default-features --manifest-path= --config= --skip= --ignored --exact --list --logfile= --target= -h --help',
      more: '--workspace --all --all-features --features= -F= --include-ignored',
      operands: 'filters',
    },
    'cargo clippy': {
      look: '-v -q --quiet --locked --frozen --offline --color= --message-format= --no-deps -j= --fix --allow-dirty --allow-staged --keep-going',
      less: '-p= --package= --lib --bins --bin= --test= --exclude= --no-default-features --manifest-path= -A= --allow= --cap-lints=',
      more: '--workspace --all --all-features --features= --all-targets --tests --examples --benches -D= --deny= -W= --warn= -F=',
      operands: 'none',
    },
    'cargo fmt': {
      look: '-v --verbose -q --quiet -l --files-with-diff --color= --message-format=',
      less: '-p= --package= --manifest-path= --config= --config-path= --edition= --style-edition= --emit= --print-config= --file-lines= --skip-children --unstable-features -h --help -V --version',
      more: '--check --all',
      operands: 'filters',
    },
    gradle: {
      look: '--info -i --debug -d --quiet -q --warn -w --stacktrace -s --full-stacktrace -S --no-daemon --daemon --continue --rerun-tasks --rerun --parallel --no-parallel --console= --offline --build-cache --no-build-cache --scan --no-scan --warning-mode= --configuration-cache --no-configuration-cache --max-workers= --profile --refresh-dependencies --no-watch-fs --no-configure-on-demand --fail-fast -Dorg.gradle.jvmargs= -Dorg.gradle.daemon= -Dorg.gradle.parallel= -Dorg.gradle.caching= -Dfile.encoding=',
      less: '--tests= -x= --exclude-task= -p= --project-dir= -b= --build-file= -I= --init-script= -m --dry-run -t --continuous --no-rebuild -a -c= --settings-file= -h --help',
      operands: 'none',
    },
    mvn: {
      look: '-B --batch-mode -q --quiet -ntp --no-transfer-progress -T= --threads= -U --update-snapshots -o --offline -e --errors -X --debug -V --show-version -fae --fail-at-end -ff --fail-fast -am --also-make -Dstyle.color= -DskipITs -DskipITs=true -DtrimStackTrace=false -Djava.awt.headless=true -Dmaven.javadoc.skip=true -DskipDocs',
      less: '-Dtest= -Dit.test= -DskipTests -DskipTests= -Dmaven.test.skip -Dmaven.test.skip= -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore= -Dgroups= -DexcludedGroups= -Dsurefire.skip= -DtestFailureIgnore= -pl= --projects= -rf= --resume-from= -fn --fail-never -N --non-recursive -f= --file= -P= --activate-profiles= -h --help',
      operands: 'none',
    },
    'dotnet test': {
      look: '-c= --configuration= --no-restore --nologo -v= --verbosity= -l= --logger= --collect= --results-directory= -r= --blame --blame-hang --blame-crash --blame-hang-timeout= -m= --interactive --tl= --arch= --disable-build-servers',
      less: '--filter= -t --list-tests --no-build -f= --framework= -s= --settings= --test-adapter-path= --diag= -h --help',
    },
    'mix test': {
      look: '--trace --color --no-color --cover --warnings-as-errors --seed= --max-failures= --slowest= --formatter= --max-cases= --timeout= --force --no-deps-check --no-start --raise --partitions=',
      less: '--only= --exclude= --failed --stale --listen-on-stdin --no-compile',
      more: '--include=',
      operands: 'filters',
    },
    rspec: {
      look: '-f= --format= -o= --out= --color --colour --force-color --no-color --order= --seed= --profile --profile= -p --fail-fast --backtrace -b -w --warnings -fd -fp -fdoc',
      less: '-e= --example= -E= --example-matches= -t= --tag= --only-failures -n --next-failure -P= --pattern= --exclude-pattern= --dry-run -O= --options= -r= --require= -I= --default-path= --bisect --init -h --help -v --version',
    },
    phpunit: {
      look: '--testdox --colors --colors= --no-coverage --coverage-text --coverage-html= --coverage-clover= --stop-on-failure --stop-on-error --stop-on-defect -v --verbose --debug --no-progress --display-warnings --display-deprecations --fail-on-warning --fail-on-risky --fail-on-skipped --log-junit= --cache-result --do-not-cache-result --order-by= --random-order-seed= --teamcity --display-all-issues',
      less: '--filter= --exclude-filter= --group= --exclude-group= --testsuite= --exclude-testsuite= -c= --configuration= --no-configuration --bootstrap= --list-tests --list-groups --list-suites --dont-report-useless-tests --covers= --uses= -h --help --version',
      operands: 'filters',
    },
    'swift test': {
      look: '--parallel -v --verbose -c= --configuration= -q --quiet --num-workers= --enable-code-coverage --build-path= --sanitize= --disable-sandbox --xunit-output=',
      less: '--filter= --skip= --list-tests --skip-build --package-path= -s= --specifier= --test-product= --disable-xctest --disable-swift-testing',
      operands: 'none',
    },
    'meson test': {
      look: '--print-errorlogs -v --verbose -q --quiet --num-processes= -j= --timeout-multiplier= -t= --no-stdsplit --logbase= --maxfail= --repeat=',
      less: '--suite= --no-suite= --list --no-rebuild --benchmark --gdb --setup= --wrap= --test-args=',
      more: '-C=',
      operands: 'filters',
    },
    bats: {
      look: '-t --tap -p --pretty -F= --formatter= -T --timing -x --trace --print-output-on-failure --show-output-of-passing-tests --verbose-run -j= --jobs= --no-parallelize-across-files --no-parallelize-within-files --report-formatter= -o= --output=',
      less: '-f= --filter= --filter-status= --filter-tags= --negative-filter= -c --count -h --help -v --version',
      more: '-r --recursive',
      narrowByDefault: true,
    },
    ctest: {
      look: '--output-on-failure -V -VV --verbose --extra-verbose -Q --quiet -j= --parallel= --timeout= --progress --stop-on-failure --schedule-random --no-tests= -C= --build-config= --output-junit= -O= --output-log= --repeat= --test-output-size-passed=',
      less: '-R= --tests-regex= -E= --exclude-regex= -L= --label-regex= -LE= --label-exclude= -I= --tests-information= -N --show-only --rerun-failed -FA= --preset= -S= -D= -M= -T=',
      more: '--test-dir=',
      operands: 'none',
    },
    'cmake --build': {
      look: '-j? --parallel? -v --verbose --clean-first -t=all --target=all',
      less: '-t= --target= --preset= --list-presets -h --help --version',
      operands: 'places',
      narrowByDefault: true,
    },
    turbo: {
      look: '--concurrency= --continue --force --no-cache --output-logs= --ui= --log-order= --log-prefix= --no-daemon --summarize --verbosity= -v',
      less: '--filter= -F= --affected --only --dry --dry-run --dry= --graph --cwd= --parallel --since= --scope=',
      operands: 'none',
    },
    nx: {
      look: '--parallel= --parallel --skip-nx-cache --skipNxCache --verbose --output-style= --outputStyle= --nxBail --no-cloud --ci --codeCoverage --coverage --all',
      less: '--projects= -p= --exclude= --base= --head= --affected --files= --uncommitted --configuration= --runner= --graph --testFile= --testNamePattern=',
      operands: 'none',
    },
    'ruff check': {
      look: '-q --quiet -v --verbose -s --silent --fix --no-fix --show-fixes --unsafe-fixes --no-unsafe-fixes --output-format= -n --no-cache --cache-dir= --color= --statistics --respect-gitignore --force-exclude --preview --output-file= -o= --exit-non-zero-on-fix',
      less: '--select= --ignore= --exclude= --extend-exclude= --per-file-ignores= --extend-per-file-ignores= -e --exit-zero --diff --fix-only --config= --isolated --add-noqa --watch -w --show-files --show-settings --target-version= --extension= --no-respect-gitignore= --stdin-filename= -h --help --fixable= --unfixable= --extend-ignore= --line-length=',
      more: '--extend-select=',
    },
    'ruff format': {
      look: '-q --quiet -v --verbose --diff --no-cache --cache-dir= --respect-gitignore --preview',
      less: '--exclude= --config= --isolated --line-length= --range= --target-version= --stdin-filename=',
      more: '--check',
    },
    flake8: {
      look: '-q --quiet -v --verbose --count --statistics --benchmark --show-source --no-show-source --color= --format= -j= --jobs= --output-file= --tee',
      less: '--exit-zero --select= --ignore= --extend-ignore= --exclude= --extend-exclude= --filename= --per-file-ignores= --config= --append-config= --isolated --diff --stdin-display-name= --bug-report -h --help --version',
      more: '--extend-select= --disable-noqa --doctests',
    },
    shellcheck: {
      look: '-x --external-sources -f= --format= -C --color --color= -P= --source-path= -W= --wiki-link-count= -S=style --severity=style',
      less: '-S= --severity= -e= --exclude= -i= --include= -s= --shell= --list-optional -V --version --help',
      more: '-a --check-sourced -o= --enable=',
      narrowByDefault: true,
    },
    eslint: {
      look: '-f= --format= --color --no-color --cache --cache-location= --cache-strategy= --fix -o= --output-file= --no-error-on-unmatched-pattern --stats --concurrency= --debug --exit-on-fatal-error --no-inline-config',
      less: '--quiet --rule= --rulesdir= --plugin= --no-eslintrc --no-config-lookup -c= --config= --ignore-pattern= --ignore-path= --fix-dry-run --fix-type= --stdin --stdin-filename= --env= --parser= --parser-options= --global= --resolve-plugins-relative-to= --no-ignore= --print-config= --init --ext= --suppress-all --suppress-rule= --pass-on-unpruned-suppressions -h --help -v --version',
      more: '--max-warnings= --report-unused-disable-directives --report-unused-disable-directives-severity=',
    },
    tsc: {
      look: '--noEmit --pretty --pretty=false --pretty=true --pretty= --project=. --project=tsconfig.json --project=./tsconfig.json -p=. -p=tsconfig.json -p=./tsconfig.json --incremental --tsBuildInfoFile= --extendedDiagnostics --diagnostics --listFiles --preserveWatchOutput --assumeChangesOnlyAffectDirectDependencies=false',
      less: '-p= --project= --skipLibCheck --noCheck -w --watch --showConfig --listFilesOnly --init --noResolve --strict=false --allowJs= --target= --module= --lib= --types= --rootDir= -h --help -v --version -b --build',
      more: '--strict --noUnusedLocals --noUnusedParameters',
      operands: 'filters',
    },
    mypy,
    pyright: {
      look: '--verbose --stats --outputjson --warnings',
      less: '-p= --project= --level= --skipunannotated --ignoreexternal --createstub= --pythonversion= -w --watch',
      narrowByDefault: true,
    },
    'golangci-lint run': {
      look: '--fix --timeout= -v --verbose --color= --out-format= -j= --concurrency= --show-stats --max-issues-per-linter= --max-same-issues= --allow-parallel-runners --print-issued-lines --sort-results --modules-download-mode=',
      less: '-D= --disable= --disable-all --enable-only= --default= --fast --fast-only -n --new --new-from-rev= --new-from-patch= --new-from-merge-base= --issues-exit-code= -c= --config= --no-config --tests=false --skip-dirs= --skip-files= --exclude= -e= --build-tags= --path-prefix= -p= --presets=',
      more: '-E= --enable= --enable-all --whole-files',
      operands: 'packages',
    },
    biome: {
      look: '--colors= --reporter= --verbose --max-diagnostics= --write --no-errors-on-unmatched --log-level= --log-kind= --use-server --apply',
      less: '--changed --staged --since= --only= --skip= --config-path= --diagnostic-level= --stdin-file-path= --formatter-enabled=false --linter-enabled=false --files-ignore-unknown=',
      more: '--error-on-warnings',
    },
    prettier: {
      look: '--color --no-color --log-level= --cache --cache-location= --cache-strategy= --no-error-on-unmatched-pattern -u --ignore-unknown --list-different -l',
      less: '--config= --no-config --ignore-path= --no-editorconfig --stdin-filepath= -w --write',
      more: '--check -c',
      narrowByDefault: true,
    },
    black: {
      look: '-q --quiet -v --verbose --color --no-color --diff --fast -W= --workers=',
      less: '--exclude= --extend-exclude= --force-exclude= --include= --config= -l= --line-length= -t= --target-version=',
      more: '--check',
    },
  }
}
