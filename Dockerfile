# syntax=docker/dockerfile:1
# linux/amd64 and linux/arm64; how to build, and what is in it: docs/operations/image.md

# The index of Python 3.13 on Debian trixie, both architectures.
ARG PYTHON=python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

FROM ${PYTHON} AS build
WORKDIR /src
# Wheels by hash, and nothing that is built here but the operator itself.
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ONLY_BINARY=:all: PIP_ROOT_USER_ACTION=ignore
COPY requirements/run.lock requirements/dev.lock requirements/
RUN python -m venv --without-pip /opt/lldap-operator \
    && python -m pip --python /opt/lldap-operator/bin/python install --require-hashes -r requirements/run.lock
RUN sed -n '/^setuptools==/,/[^\\]$/p' requirements/dev.lock > requirements/build.lock \
    && python -m venv /src/tools \
    && /src/tools/bin/python -m pip install --require-hashes -r requirements/build.lock
COPY pyproject.toml setup.cfg README.md LICENSE ./
COPY workqueue workqueue
COPY informers informers
COPY lldap lldap
COPY controller controller
# The sandbox is not copied, so its command would lead nowhere.
RUN /src/tools/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /src/wheel . \
    && python -m pip --python /opt/lldap-operator/bin/python install --no-deps --no-index /src/wheel/*.whl \
    && rm /opt/lldap-operator/bin/lldap-operator-sandbox

FROM ${PYTHON}
LABEL org.opencontainers.image.title="lldap-operator" \
      org.opencontainers.image.description="Runs the users, groups, memberships and attributes of lldap from Kubernetes objects" \
      org.opencontainers.image.licenses="Apache-2.0"
# Large pages for large buffers: half the CPU time of a password is page faults of Argon2's 50 MiB.
ENV PATH=/opt/lldap-operator/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1
COPY --from=build /opt/lldap-operator /opt/lldap-operator
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["lldap-operator"]
CMD ["run"]
