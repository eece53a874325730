# Two images. `service` runs the worker, the watcher and the commands for people: docker build --target service .
# `demo` has the simulators and the reported case as well: docker build --target demo .
# Both run as nobody in particular, with a read-only root filesystem; only the demo needs /tmp.

FROM node:24.20.0-trixie-slim AS base
WORKDIR /app

FROM base AS build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY runtime runtime
COPY karpenter karpenter
COPY workflows workflows
COPY activities activities
COPY worker worker
COPY client client
COPY simulator simulator
COPY demo demo
COPY bin bin
# Bundles the workflows, too: no worker spends its start on that.
RUN npm run build

FROM base AS demo-packages
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund
# The SDK comes with its native part for every platform.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 -not -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM demo-packages AS service-packages
# What the simulators and the demo alone import.
RUN npm uninstall --no-save --omit=dev --no-audit --no-fund @peculiar/x509 @temporalio/testing reflect-metadata rfc6902

FROM base AS service
ENV NODE_ENV=production
COPY package.json ./
COPY --from=service-packages /app/node_modules node_modules
COPY --from=build /app/dist/runtime dist/runtime
COPY --from=build /app/dist/karpenter dist/karpenter
COPY --from=build /app/dist/workflows dist/workflows
COPY --from=build /app/dist/activities dist/activities
COPY --from=build /app/dist/worker dist/worker
COPY --from=build /app/dist/client dist/client
COPY --from=build /app/dist/bin dist/bin
COPY --from=build /app/dist/workflowBundle.js dist/workflowBundle.js
USER 1000
ENTRYPOINT ["node", "/app/dist/bin/driftless.js"]

FROM base AS demo
ENV NODE_ENV=production
# Where worker and watcher find the simulators' addresses and credentials; a volume mounted here belongs to them.
RUN mkdir /simulated && chown 1000:1000 /simulated
COPY package.json ./
COPY --from=demo-packages /app/node_modules node_modules
COPY --from=build /app/dist dist
USER 1000
ENTRYPOINT ["node", "/app/dist/bin/driftless.js"]
