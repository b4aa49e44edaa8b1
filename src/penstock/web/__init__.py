"""What every HTTP service shares: routes, bodies with a limit, errors in Confluent's form, serving until told to stop.

    routes = Routes()

    @routes.get("/subjects/{subject}/versions")
    async def list_versions(request: Request) -> Response:
        return json_response(versions_of(request.path["subject"]))

    app = HttpApp(routes, MediaTypes(produces=("application/json",), consumes=("application/json",)))
    async with serving(app, parse_listeners("listeners", ["http://127.0.0.1:8081"])) as addresses:
        ...

It is plain ASGI: what a service reads from memory should cost little more than parsing the request.
"""
