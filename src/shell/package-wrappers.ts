import { named, type Wrapper } from './wrapper.ts'

const noOption = /^$/

/** Package managers and version managers that run a program of the project. */
export function packageWrappers(): Readonly<Record<string, Wrapper>> {
  const npmOptions =
    '-C,--prefix/ -w,--workspace: -p,--package: -c,--call! --workspaces -ws --include-workspace-root -y,--yes --no -q,--quiet -s,--silent -d,-dd,-ddd,--verbose --no-install --prefer-offline --prefer-online --offline --ignore-scripts --foreground-scripts -g,--global -f,--force -if-present,--if-present --loglevel: --cache: --userconfig: --globalconfig: --registry: --script-shell: --tag: --shell: -n,--node-arg: --node-options: --legacy-peer-deps --no-audit --no-fund --no-color --color'
  const npmExec: Wrapper = { options: npmOptions, launch: noOption }
  const pnpmOptions =
    '-r,--recursive -C,--dir/ -F,--filter: --filter-prod: -w,--workspace-root -c,--shell-mode& --package: --parallel --no-bail --bail --reverse --sort --no-sort --stream --aggregate-output --if-present --resume-from: --report-summary --no-reporter-hide-prefix --workspace-concurrency: --reporter: --loglevel: -s,--silent --use-node-version: --color --no-color --include-workspace-root --ignore-workspace --fail-if-no-match --changed-files-ignore-pattern: --test-pattern: --allow-build: --store-dir: --registry: --no-verify-store-integrity --offline --prefer-offline --aggregate-output'
  const pnpmRun: Wrapper = { options: pnpmOptions, launch: noOption }
  const yarnOptions =
    '--cwd/ -s,--silent --offline --prefer-offline --frozen-lockfile --non-interactive --no-progress --verbose --json --ignore-engines --ignore-scripts --mutex: --modules-folder: --cache-folder: --use-yarnrc: --network-timeout: --registry: --no-lockfile --pure-lockfile --force --flat --emoji -v'
  const yarnRun: Wrapper = {
    options: `-T,--top-level -B,--binaries-only --inspect? --inspect-brk? --require: ${yarnOptions}`,
  }
  const yarnVerbs = {
    run: yarnRun,
    exec: { ...yarnRun, textual: true } satisfies Wrapper,
    dlx: { options: '-p,--package: -q,--quiet' } satisfies Wrapper,
    node: { options: '', argumentsOf: 'node' } satisfies Wrapper,
  }
  const yarnOwn =
    'add audit autoclean bin cache check config constraints create dedupe explain generate-lock-entry global help import info init install licenses link list login logout npm outdated owner pack patch patch-commit patches plugin policies prefers prolog publish rebuild remove search self-update set stage tag team unlink unplug up update upgrade upgrade-interactive version versions why workspace workspaces'.split(
      ' ',
    )
  const pnpmOwn =
    'add approve-builds audit bin c cache cat-file cat-index catalog ci config create dedupe deploy dist-tag doctor env fetch find-hash get help i import info init install install-test it licenses link list ll ln login logout ls outdated pack patch patch-commit patch-remove prune publish rb rebuild remove rm root run run-script search self-update server set setup show store t test tst start stop restart un uninstall unlink up update upgrade view whoami why'.split(
      ' ',
    )
  const foreach: Wrapper = {
    options:
      '--from: -A,--all -R,--recursive -W,--worktree -v,--verbose -p,--parallel -i,--interlaced -j,--jobs: -t,--topological --topological-dev --include: --exclude: --no-private --since? -n,--dry-run',
    subcommands: yarnVerbs,
    ownVerbs: yarnOwn,
  }
  const uvOptions =
    '--with: --with-editable: --with-requirements: --from: -p,--python: --env-file: --no-env-file --extra: --no-extra: --all-extras --group: --no-group: --only-group: --all-groups --no-default-groups --package: --all-packages --project: --directory/ --dev --no-dev --only-dev --no-editable --inexact --exact -n,--no-cache,--no-cache-dir --cache-dir: --isolated --active --no-active --no-sync --locked --frozen -s,--script --gui-script -m,--module -v,--verbose -q,--quiet --offline --no-progress --native-tls --no-config --config-file: --color: --refresh --refresh-package: --reinstall --reinstall-package: -U,--upgrade -P,--upgrade-package: -i,--index-url: --index: --default-index: --extra-index-url: -f,--find-links: --no-index --index-strategy: --keyring-provider: --resolution: --prerelease: --fork-strategy: --exclude-newer: --link-mode: --no-build --no-build-package: --no-binary --no-binary-package: --no-build-isolation --no-build-isolation-package: -C,--config-setting: --no-sources --compile-bytecode --allow-insecure-host: --managed-python --no-managed-python --no-python-downloads --python-preference: --python-platform: --show-settings -c,--constraint,--constraints: -b,--build-constraint,--build-constraints: --override,--overrides: -w:'
  const uvx: Wrapper = {
    options: uvOptions,
    launch: /^(?:--from|--with|-p|--python|-q|--quiet|--offline)(?:=.*)?$/,
  }
  const pythonOptions = '-q,--quiet -v,--verbose'
  const mise: Wrapper = {
    options:
      '-C,--cd/ -E,--env: -c,--command! -j,--jobs: --raw -q,--quiet -v,--verbose -y,--yes --fresh-env --no-prepare --locked --silent',
    launch: noOption,
    skipped: /@/,
    afterDashes: true,
  }
  const conda: Wrapper = {
    subcommands: {
      run: {
        options:
          '-n,--name: -p,--prefix: --cwd/ -v,--verbose --dev --debug-wrapper-scripts --no-capture-output,--live-stream -e,--env: -a,--attach: -d,--detach --clean-env --label: -r,--root-prefix:',
      },
    },
    launch: /^(?:-n|--name|--no-capture-output|--live-stream)$/,
  }
  const bun =
    '-b,--bun --cwd/ --silent -F,--filter: -i,--install: --if-present --shell: --env-file: -c,--config: --watch --hot --no-install --prefer-offline -r,--preload,--require: --smol -y,--yes -p,--package: --verbose'
  const bunx: Wrapper = { options: bun, launch: /^(?:--bun|-b)$/ }
  const any = named('exec', {})
  return {
    npx: {
      options: npmOptions,
      launch: /^(?:-y|-q|--yes|--no|--no-install|--prefer-offline|--offline|--quiet|--silent)$/,
    },
    npm: { ...npmExec, subcommands: named('exec x', npmExec) },
    pnpm: { ...pnpmRun, subcommands: named('exec dlx', pnpmRun), ownVerbs: pnpmOwn },
    yarn: {
      options: yarnOptions,
      subcommands: {
        ...yarnVerbs,
        workspace: { operands: 1, subcommands: yarnVerbs, ownVerbs: yarnOwn },
        workspaces: { subcommands: { foreach, run: yarnRun } },
      },
      ownVerbs: yarnOwn,
    },
    bunx,
    bun: { options: bun, subcommands: { x: bunx, run: { options: bun }, exec: { joined: ' ' } } },
    corepack: {
      launch: noOption,
      ownVerbs: ['enable', 'disable', 'install', 'use', 'up', 'pack', 'prepare', 'hydrate', 'cache'],
    },
    lerna: {
      subcommands: {
        exec: {
          options:
            '--scope: --ignore: --no-private --since? --stream --parallel --no-bail --concurrency: --include-dependencies --include-dependents --no-prefix --profile --loglevel:',
        },
      },
    },
    nx: { subcommands: { exec: { options: '--projects: -p: --all --parallel? --verbose --exclude:' } } },
    ...named('npm-run-all run-s run-p', {
      options:
        '-c,--continue-on-error -l,--print-label -n,--print-name -p,--parallel -s,--sequential,--serial -r,--race --max-parallel: --npm-path: --aggregate-output --silent',
      joined: '\n',
      exit: 'similar',
    }),
    concurrently: {
      options:
        '-m,--max-processes: -n,--names: --name-separator: -s,--success: -r,--raw --no-color --hide: -g,--group --timings -P,--passthrough-arguments --teardown! -k,--kill-others --kill-others-on-fail --kill-signal: --kill-timeout: -p,--prefix: -c,--prefix-colors: -l,--prefix-length: -t,--timestamp-format: --pad-prefix -i,--handle-input --default-input-target: --restart-tries: --restart-after: --cwd/',
      joined: '\n',
      exit: 'similar',
    },
    volta: {
      subcommands: {
        run: {
          options:
            '--node: --npm: --pnpm: --yarn: --bundled-npm --no-pnpm --no-yarn --env: --verbose --quiet',
        },
      },
    },
    fnm: {
      options: '--node-dist-mirror: --fnm-dir: --log-level: --arch:',
      subcommands: { exec: { options: '--using:' } },
    },
    nvm: {
      subcommands: {
        exec: { options: '--silent', skipped: /^(?:v?\d[\d.]*|lts\/.*|node|stable|system|--lts.*)$/ },
      },
    },
    ...named('pyenv rbenv nodenv goenv asdf', { subcommands: any }),
    bundle: {
      options: '--no-color --verbose --retry:',
      subcommands: { exec: { options: '--keep-file-descriptors --gemfile:' } },
      launch: noOption,
    },
    mise: { options: mise.options ?? '', subcommands: named('exec x', mise), launch: noOption },
    uvx,
    uv: {
      options: uvOptions,
      subcommands: { run: { options: uvOptions }, tool: { options: uvOptions, subcommands: { run: uvx } } },
      launch:
        /^(?:-[pqvnm]|--(?:frozen|locked|all-extras|all-groups|extra|group|dev|no-dev|no-sync|with|with-requirements|python|quiet|isolated|active|no-progress|offline|exact|all-packages|module|no-cache)(?:=.*)?)$/,
    },
    pipx: {
      options: pythonOptions,
      launch: noOption,
      subcommands: {
        run: {
          options:
            '--spec: --with: --no-cache --path --pypackages --python: --system-site-packages --fetch-missing-python -i,--index-url: -e,--editable --pip-args: -v,--verbose -q,--quiet',
        },
      },
    },
    poetry: {
      options:
        '-C,--directory/ -P,--project: -q,--quiet -v,-vv,-vvv,--verbose -n,--no-interaction --ansi --no-ansi --no-plugins --no-cache',
      subcommands: { run: {} },
      launch: /^(?:-[qvn]|--quiet|--no-interaction)$/,
    },
    pipenv: {
      options: '-v,--verbose -q,--quiet --python: --pypi-mirror: --site-packages --bare',
      subcommands: { run: {} },
      launch: noOption,
    },
    pdm: {
      options:
        '-c,--config: -v,--verbose -q,--quiet -I,--ignore-python -n,--non-interactive -p,--project: --no-cache',
      subcommands: {
        run: {
          options:
            '-g,--global -p,--project: --venv: -k,--skip: -s,--site-packages --recreate -l,--list -j,--json -v,--verbose -q,--quiet',
        },
      },
      launch: /^-[qv]$/,
    },
    hatch: {
      options:
        '-e,--env: -p,--project: -v,--verbose -q,--quiet --color --no-color --interactive --no-interactive --data-dir: --cache-dir: --config:',
      subcommands: {
        run: { prefix: /^[\w.+-]+:(?=.)/, textual: true },
        env: {
          subcommands: {
            run: {
              options: '-e,--env: -i,--include: -x,--exclude: -f,--filter: --force-continue --ignore-compat',
            },
          },
        },
      },
      launch: /^-[qv]$/,
    },
    rye: {
      options: pythonOptions,
      subcommands: { run: { options: '-l,--list --pyproject: -v,--verbose -q,--quiet' } },
      launch: noOption,
    },
    pixi: {
      subcommands: {
        run: {
          options:
            '-e,--environment: --manifest-path: --frozen --locked -x,--executable --clean-env --skip-deps -v,--verbose -q,--quiet --no-progress',
        },
      },
    },
    ...named('conda mamba micromamba', conda),
  }
}
