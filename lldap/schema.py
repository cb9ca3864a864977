import sgqlc.types
import sgqlc.types.datetime


schema = sgqlc.types.Schema()



########################################################################
# Scalars and Enumerations
########################################################################
class AttributeType(sgqlc.types.Enum):
    __schema__ = schema
    __choices__ = ('DATE_TIME', 'INTEGER', 'JPEG_PHOTO', 'STRING')


Boolean = sgqlc.types.Boolean

DateTime = sgqlc.types.datetime.DateTime

Int = sgqlc.types.Int

String = sgqlc.types.String


########################################################################
# Input Objects
########################################################################
class AttributeValueInput(sgqlc.types.Input):
    __schema__ = schema
    __field_names__ = ('name', 'value')
    name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='name')
    value = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null(String))), graphql_name='value')


class CreateGroupInput(sgqlc.types.Input):
    __schema__ = schema
    __field_names__ = ('display_name', 'attributes')
    display_name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='displayName')
    attributes = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null(AttributeValueInput)), graphql_name='attributes')


class CreateUserInput(sgqlc.types.Input):
    __schema__ = schema
    __field_names__ = ('id', 'email', 'display_name', 'first_name', 'last_name', 'avatar', 'attributes')
    id = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='id')
    email = sgqlc.types.Field(String, graphql_name='email')
    display_name = sgqlc.types.Field(String, graphql_name='displayName')
    first_name = sgqlc.types.Field(String, graphql_name='firstName')
    last_name = sgqlc.types.Field(String, graphql_name='lastName')
    avatar = sgqlc.types.Field(String, graphql_name='avatar')
    attributes = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null(AttributeValueInput)), graphql_name='attributes')


class EqualityConstraint(sgqlc.types.Input):
    __schema__ = schema
    __field_names__ = ('field', 'value')
    field = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='field')
    value = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='value')


class RequestFilter(sgqlc.types.Input):
    __schema__ = schema
    __field_names__ = ('any', 'all', 'not_', 'eq', 'member_of', 'member_of_id')
    any = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null('RequestFilter')), graphql_name='any')
    all = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null('RequestFilter')), graphql_name='all')
    not_ = sgqlc.types.Field('RequestFilter', graphql_name='not')
    eq = sgqlc.types.Field(EqualityConstraint, graphql_name='eq')
    member_of = sgqlc.types.Field(String, graphql_name='memberOf')
    member_of_id = sgqlc.types.Field(Int, graphql_name='memberOfId')


class UpdateGroupInput(sgqlc.types.Input):
    __schema__ = schema
    __field_names__ = ('id', 'display_name', 'remove_attributes', 'insert_attributes')
    id = sgqlc.types.Field(sgqlc.types.non_null(Int), graphql_name='id')
    display_name = sgqlc.types.Field(String, graphql_name='displayName')
    remove_attributes = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null(String)), graphql_name='removeAttributes')
    insert_attributes = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null(AttributeValueInput)), graphql_name='insertAttributes')


class UpdateUserInput(sgqlc.types.Input):
    __schema__ = schema
    __field_names__ = ('id', 'email', 'display_name', 'first_name', 'last_name', 'avatar', 'remove_attributes', 'insert_attributes')
    id = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='id')
    email = sgqlc.types.Field(String, graphql_name='email')
    display_name = sgqlc.types.Field(String, graphql_name='displayName')
    first_name = sgqlc.types.Field(String, graphql_name='firstName')
    last_name = sgqlc.types.Field(String, graphql_name='lastName')
    avatar = sgqlc.types.Field(String, graphql_name='avatar')
    remove_attributes = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null(String)), graphql_name='removeAttributes')
    insert_attributes = sgqlc.types.Field(sgqlc.types.list_of(sgqlc.types.non_null(AttributeValueInput)), graphql_name='insertAttributes')



########################################################################
# Output Objects and Interfaces
########################################################################
class AttributeList(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('attributes', 'extra_ldap_object_classes', 'ldap_object_classes')
    attributes = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null('AttributeSchema'))), graphql_name='attributes')
    extra_ldap_object_classes = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null(String))), graphql_name='extraLdapObjectClasses')
    ldap_object_classes = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null('ObjectClassInfo'))), graphql_name='ldapObjectClasses')


class AttributeSchema(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('name', 'attribute_type', 'is_list', 'is_visible', 'is_editable', 'is_hardcoded', 'is_readonly')
    name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='name')
    attribute_type = sgqlc.types.Field(sgqlc.types.non_null(AttributeType), graphql_name='attributeType')
    is_list = sgqlc.types.Field(sgqlc.types.non_null(Boolean), graphql_name='isList')
    is_visible = sgqlc.types.Field(sgqlc.types.non_null(Boolean), graphql_name='isVisible')
    is_editable = sgqlc.types.Field(sgqlc.types.non_null(Boolean), graphql_name='isEditable')
    is_hardcoded = sgqlc.types.Field(sgqlc.types.non_null(Boolean), graphql_name='isHardcoded')
    is_readonly = sgqlc.types.Field(sgqlc.types.non_null(Boolean), graphql_name='isReadonly')


class AttributeValue(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('name', 'value', 'schema')
    name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='name')
    value = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null(String))), graphql_name='value')
    schema = sgqlc.types.Field(sgqlc.types.non_null(AttributeSchema), graphql_name='schema')


class Group(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('id', 'display_name', 'creation_date', 'uuid', 'attributes', 'users')
    id = sgqlc.types.Field(sgqlc.types.non_null(Int), graphql_name='id')
    display_name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='displayName')
    creation_date = sgqlc.types.Field(sgqlc.types.non_null(DateTime), graphql_name='creationDate')
    uuid = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='uuid')
    attributes = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null(AttributeValue))), graphql_name='attributes')
    users = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null('User'))), graphql_name='users')


class Mutation(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('create_user', 'create_group', 'create_group_with_details', 'update_user', 'update_group', 'add_user_to_group', 'remove_user_from_group', 'delete_user', 'delete_group', 'add_user_attribute', 'add_group_attribute', 'delete_user_attribute', 'delete_group_attribute', 'add_user_object_class', 'add_group_object_class', 'delete_user_object_class', 'delete_group_object_class')
    create_user = sgqlc.types.Field(sgqlc.types.non_null('User'), graphql_name='createUser', args=sgqlc.types.ArgDict((
        ('user', sgqlc.types.Arg(sgqlc.types.non_null(CreateUserInput), graphql_name='user', default=None)),
))
    )
    create_group = sgqlc.types.Field(sgqlc.types.non_null(Group), graphql_name='createGroup', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
))
    )
    create_group_with_details = sgqlc.types.Field(sgqlc.types.non_null(Group), graphql_name='createGroupWithDetails', args=sgqlc.types.ArgDict((
        ('request', sgqlc.types.Arg(sgqlc.types.non_null(CreateGroupInput), graphql_name='request', default=None)),
))
    )
    update_user = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='updateUser', args=sgqlc.types.ArgDict((
        ('user', sgqlc.types.Arg(sgqlc.types.non_null(UpdateUserInput), graphql_name='user', default=None)),
))
    )
    update_group = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='updateGroup', args=sgqlc.types.ArgDict((
        ('group', sgqlc.types.Arg(sgqlc.types.non_null(UpdateGroupInput), graphql_name='group', default=None)),
))
    )
    add_user_to_group = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='addUserToGroup', args=sgqlc.types.ArgDict((
        ('user_id', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='userId', default=None)),
        ('group_id', sgqlc.types.Arg(sgqlc.types.non_null(Int), graphql_name='groupId', default=None)),
))
    )
    remove_user_from_group = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='removeUserFromGroup', args=sgqlc.types.ArgDict((
        ('user_id', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='userId', default=None)),
        ('group_id', sgqlc.types.Arg(sgqlc.types.non_null(Int), graphql_name='groupId', default=None)),
))
    )
    delete_user = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='deleteUser', args=sgqlc.types.ArgDict((
        ('user_id', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='userId', default=None)),
))
    )
    delete_group = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='deleteGroup', args=sgqlc.types.ArgDict((
        ('group_id', sgqlc.types.Arg(sgqlc.types.non_null(Int), graphql_name='groupId', default=None)),
))
    )
    add_user_attribute = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='addUserAttribute', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
        ('attribute_type', sgqlc.types.Arg(sgqlc.types.non_null(AttributeType), graphql_name='attributeType', default=None)),
        ('is_list', sgqlc.types.Arg(sgqlc.types.non_null(Boolean), graphql_name='isList', default=None)),
        ('is_visible', sgqlc.types.Arg(sgqlc.types.non_null(Boolean), graphql_name='isVisible', default=None)),
        ('is_editable', sgqlc.types.Arg(sgqlc.types.non_null(Boolean), graphql_name='isEditable', default=None)),
))
    )
    add_group_attribute = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='addGroupAttribute', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
        ('attribute_type', sgqlc.types.Arg(sgqlc.types.non_null(AttributeType), graphql_name='attributeType', default=None)),
        ('is_list', sgqlc.types.Arg(sgqlc.types.non_null(Boolean), graphql_name='isList', default=None)),
        ('is_visible', sgqlc.types.Arg(sgqlc.types.non_null(Boolean), graphql_name='isVisible', default=None)),
        ('is_editable', sgqlc.types.Arg(sgqlc.types.non_null(Boolean), graphql_name='isEditable', default=None)),
))
    )
    delete_user_attribute = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='deleteUserAttribute', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
))
    )
    delete_group_attribute = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='deleteGroupAttribute', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
))
    )
    add_user_object_class = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='addUserObjectClass', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
))
    )
    add_group_object_class = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='addGroupObjectClass', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
))
    )
    delete_user_object_class = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='deleteUserObjectClass', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
))
    )
    delete_group_object_class = sgqlc.types.Field(sgqlc.types.non_null('Success'), graphql_name='deleteGroupObjectClass', args=sgqlc.types.ArgDict((
        ('name', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='name', default=None)),
))
    )


class ObjectClassInfo(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('object_class', 'is_hardcoded')
    object_class = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='objectClass')
    is_hardcoded = sgqlc.types.Field(sgqlc.types.non_null(Boolean), graphql_name='isHardcoded')


class Query(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('api_version', 'user', 'users', 'groups', 'group', 'schema')
    api_version = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='apiVersion')
    user = sgqlc.types.Field(sgqlc.types.non_null('User'), graphql_name='user', args=sgqlc.types.ArgDict((
        ('user_id', sgqlc.types.Arg(sgqlc.types.non_null(String), graphql_name='userId', default=None)),
))
    )
    users = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null('User'))), graphql_name='users', args=sgqlc.types.ArgDict((
        ('filters', sgqlc.types.Arg(RequestFilter, graphql_name='filters', default=None)),
))
    )
    groups = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null(Group))), graphql_name='groups')
    group = sgqlc.types.Field(sgqlc.types.non_null(Group), graphql_name='group', args=sgqlc.types.ArgDict((
        ('group_id', sgqlc.types.Arg(sgqlc.types.non_null(Int), graphql_name='groupId', default=None)),
))
    )
    schema = sgqlc.types.Field(sgqlc.types.non_null('Schema'), graphql_name='schema')


class Schema(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('user_schema', 'group_schema')
    user_schema = sgqlc.types.Field(sgqlc.types.non_null(AttributeList), graphql_name='userSchema')
    group_schema = sgqlc.types.Field(sgqlc.types.non_null(AttributeList), graphql_name='groupSchema')


class Success(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('ok',)
    ok = sgqlc.types.Field(sgqlc.types.non_null(Boolean), graphql_name='ok')


class User(sgqlc.types.Type):
    __schema__ = schema
    __field_names__ = ('id', 'email', 'display_name', 'first_name', 'last_name', 'avatar', 'creation_date', 'uuid', 'attributes', 'groups')
    id = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='id')
    email = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='email')
    display_name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='displayName')
    first_name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='firstName')
    last_name = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='lastName')
    avatar = sgqlc.types.Field(String, graphql_name='avatar')
    creation_date = sgqlc.types.Field(sgqlc.types.non_null(DateTime), graphql_name='creationDate')
    uuid = sgqlc.types.Field(sgqlc.types.non_null(String), graphql_name='uuid')
    attributes = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null(AttributeValue))), graphql_name='attributes')
    groups = sgqlc.types.Field(sgqlc.types.non_null(sgqlc.types.list_of(sgqlc.types.non_null(Group))), graphql_name='groups')



########################################################################
# Unions
########################################################################

########################################################################
# Schema Entry Points
########################################################################
schema.query_type = Query
schema.mutation_type = Mutation
schema.subscription_type = None

